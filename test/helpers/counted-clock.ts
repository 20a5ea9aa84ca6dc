import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createWatch } from './watch.ts';

export interface CountedClock extends ManualClock {
  /** Timers that are set and neither due nor cancelled, by the milliseconds they were set for. */
  readonly pending: readonly number[];
  /** Resolves when a timer of `delayMs` is set, or is set already. */
  timer(delayMs: number): Promise<void>;
}

/** A manual clock that tells which timers are set: what was closed has left none behind. */
export function createCountedClock(wallMs?: number): CountedClock {
  const clock = createManualClock(wallMs);
  const watch = createWatch();
  const timers = new Map<object, number>();
  return {
    ...clock,
    get pending() {
      return [...timers.values()];
    },
    timer: async (delayMs) => {
      await watch.until(() => [...timers.values()].includes(delayMs));
    },
    after(delayMs, call, options) {
      const key = {};
      const timer = clock.after(
        delayMs,
        () => {
          timers.delete(key);
          call();
        },
        options,
      );
      timers.set(key, delayMs);
      watch.changed();
      return {
        cancel() {
          timers.delete(key);
          timer.cancel();
        },
      };
    },
  };
}
