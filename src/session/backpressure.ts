import type { VoiceStream } from '../wire/client/voice-stream.ts';

/** Called when a queue becomes full, and when it has room again. */
export interface QueueHandlers {
  onFull: () => void;
  onDrained: () => void;
}

/** Pauses reading from the network while any queue behind it is full. */
export interface Backpressure {
  /** Handlers for one more queue. */
  queue(): QueueHandlers;
  /** Sets the stream to pause, once it exists. */
  attach(stream: Pick<VoiceStream, 'pause' | 'resume'>): void;
}

export function createBackpressure(): Backpressure {
  let stream: Pick<VoiceStream, 'pause' | 'resume'> | undefined;
  const full = new Set<QueueHandlers>();
  return {
    queue() {
      const handlers: QueueHandlers = {
        onFull() {
          full.add(handlers);
          stream?.pause();
        },
        onDrained() {
          if (full.delete(handlers) && full.size === 0) stream?.resume();
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
