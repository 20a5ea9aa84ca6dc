import type { SessionEvent } from './events.ts';

/** Events that may wait for a slow view; beyond it events of single audio frames are left out, and counted. */
const maxWaiting = 4_096;

/** Carries events from the callbacks that make them to the one loop that reads them. */
export interface EventQueue {
  push(event: SessionEvent): void;
  /** Ends the loop, after all that waits. */
  end(): void;
  /** Audio events that no view was given. */
  readonly dropped: number;
  read(): AsyncGenerator<SessionEvent>;
}

export function createEventQueue(): EventQueue {
  let waiting: SessionEvent[] = [];
  let ended = false;
  let dropped = 0;
  let wake: (() => void) | undefined;
  const notify = () => {
    wake?.();
    wake = undefined;
  };
  return {
    get dropped() {
      return dropped;
    },
    push(event) {
      if (event.type === 'audio' && waiting.length >= maxWaiting) {
        dropped += 1;
        return;
      }
      waiting.push(event);
      notify();
    },
    end() {
      ended = true;
      notify();
    },
    async *read() {
      for (;;) {
        const batch = waiting;
        waiting = [];
        yield* batch;
        if (waiting.length > 0) continue;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
