import type { Clock } from '../../kernel/clock.ts';
import { watchLateness } from '../../kernel/lateness.ts';

/** Notices when this process was held up: stopped, or busy. */
export interface HoldUp {
  /** Whether a hold-up has just ended: what is read now may have come during it. */
  hasJustEnded(): boolean;
  stop(): void;
}

/** A shorter delay is usual on a busy machine. */
const toleratedMs = 50;
/** What has come in the meantime is read within this time. */
const recentMs = 50;

export function createHoldUp(clock: Clock): HoldUp {
  let endedAt = Number.NEGATIVE_INFINITY;
  const lateness = watchLateness(clock, (lateMs) => {
    if (lateMs > toleratedMs) endedAt = clock.now();
  });
  return {
    hasJustEnded() {
      lateness.look();
      return clock.now() - endedAt < recentMs;
    },
    stop: () => lateness.stop(),
  };
}
