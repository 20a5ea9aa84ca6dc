import { type Clock, createMovableClock, type MovableClock } from '../../src/kernel/clock.ts';

const never = { cancel() {} };
const stopped: Clock = { now: () => 0, wall: () => 0, after: () => never };

export interface ManualClock extends MovableClock {
  /** Advances in steps, letting promises settle between them, so that chains of waits come due in order. */
  run(ms: number, stepMs?: number): Promise<void>;
}

/** A clock that stands still until a test moves it. Wall time starts at `wallMs`. */
export function createManualClock(wallMs = Date.UTC(2026, 0, 1)): ManualClock {
  const clock = createMovableClock({ ...stopped, wall: () => wallMs });
  return {
    ...clock,
    async run(ms, stepMs = 5) {
      for (let left = ms; left > 0; left -= stepMs) {
        clock.advance(Math.min(stepMs, left));
        await new Promise(setImmediate);
      }
    },
  };
}
