import type { Clock } from '../kernel/clock.ts';
import type { VoiceStream } from '../wire/client/voice-stream.ts';

/** Called when a queue becomes full, and when it has room again. */
export interface QueueHandlers {
  onFull: () => void;
  onDrained: () => void;
}

/** Pauses reading from the network while any queue behind it is full. */
export interface Backpressure {
  queue(): QueueHandlers;
  /** Sets the stream that is paused, once it exists. */
  attach(stream: Pick<VoiceStream, 'pause' | 'resume'>): void;
  /** When reading was last paused: now, if it is. What the service sent before may not have been read yet. */
  readonly pausedUntil: number;
}

export function createBackpressure(clock: Pick<Clock, 'now'>): Backpressure {
  let stream: Pick<VoiceStream, 'pause' | 'resume'> | undefined;
  const full = new Set<QueueHandlers>();
  let resumedAt = Number.NEGATIVE_INFINITY;
  return {
    get pausedUntil() {
      return full.size > 0 ? clock.now() : resumedAt;
    },
    queue() {
      const handlers: QueueHandlers = {
        onFull() {
          full.add(handlers);
          stream?.pause();
        },
        onDrained() {
          if (!full.delete(handlers) || full.size > 0) return;
          resumedAt = clock.now();
          stream?.resume();
        },
      };
      return handlers;
    },
    attach(opened) {
      stream = opened;
      if (full.size > 0) opened.pause();
    },
  };
}
