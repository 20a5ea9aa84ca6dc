import type { Clock } from '../../kernel/clock.ts';

/** Sums up what is lost bit by bit, so that it is told now and then and not each time. */
export interface LossReport {
  add(ms: number): void;
  /** Tells what was not told yet. */
  end(): void;
}

const tellEveryMs = 1_000;

/** Tells of the first loss at once, and of what follows at most once a second. */
export function createLossReport(clock: Clock, tell: (lostMs: number) => void): LossReport {
  let lostMs = 0;
  let pause: { cancel(): void } | undefined;
  const tellAll = () => {
    pause = undefined;
    if (lostMs === 0) return;
    const sum = lostMs;
    lostMs = 0;
    pause = clock.after(tellEveryMs, tellAll, { background: true });
    tell(sum);
  };
  return {
    add(ms) {
      lostMs += ms;
      if (pause === undefined) tellAll();
    },
    end() {
      pause?.cancel();
      tellAll();
      pause?.cancel();
    },
  };
}
