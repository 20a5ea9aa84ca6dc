import type { Clock } from '../../kernel/clock.ts';

/** Adds up small losses, so that they are not reported one by one. */
export interface LossReport {
  add(ms: number): void;
  /** Reports what was not reported yet. */
  end(): void;
}

const tellEveryMs = 1_000;

/** Reports the first loss at once, and later ones at most once a second. */
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
