import type { LostTime } from '../../audio/verdict/pace-check.ts';
import type { Clock, ClockTimer } from '../../kernel/clock.ts';

/** Interval at which lateness is measured, and a lateness that any timer may have. */
const everyMs = 50;
const toleratedMs = 5;

/** Measures the time in which this process did not run, while at least one stream is open. */
export interface OwnLateness extends LostTime {
  /** Begins to measure for one more stream. Call the result when it has ended. */
  watch(): () => void;
}

/** `clock`: the clock of the machine. */
export function createOwnLateness(clock: Clock): OwnLateness {
  let lostMs = 0;
  let watchers = 0;
  let timer: ClockTimer | undefined;

  const arm = () => {
    const due = clock.now() + everyMs;
    const measure = () => {
      const late = clock.now() - due;
      if (late > toleratedMs) lostMs += late;
      arm();
    };
    timer = clock.after(everyMs, measure, { background: true });
  };

  return {
    get lostMs() {
      return lostMs;
    },
    watch() {
      watchers += 1;
      if (watchers === 1) arm();
      return () => {
        watchers -= 1;
        if (watchers === 0) timer?.cancel();
      };
    },
  };
}
