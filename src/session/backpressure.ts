import type { VoiceStream } from '../wire/client/voice-stream.ts';

/** What a queue says when it is full, and when it is no longer. */
export interface QueueHandlers {
  onFull: () => void;
  onDrained: () => void;
}

/** Reading from the network rests while any of the queues behind it is full. */
export interface Backpressure {
  /** Handlers for one more queue. */
  queue(): QueueHandlers;
  /** The stream that is to rest, from the moment there is one. */
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
