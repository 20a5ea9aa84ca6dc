import type { Clock } from '../../kernel/clock.ts';

/** Notices when this process was held up: stopped, or busy. */
export interface HoldUp {
  /** Whether a hold-up has just ended: what is read now may have come during it. */
  hasJustEnded(): boolean;
  stop(): void;
}

const beatMs = 50;
/** A shorter delay is usual on a busy machine. */
const lateMs = 50;
/** What has come in the meantime is read within this time. */
const recentMs = 50;

export function createHoldUp(clock: Clock): HoldUp {
  let beatAt = clock.now();
  let endedAt = Number.NEGATIVE_INFINITY;
  const look = () => {
    const now = clock.now();
    if (now - beatAt > beatMs + lateMs) endedAt = now;
    beatAt = now;
  };
  const beat = () => {
    look();
    timer = clock.after(beatMs, beat, { background: true });
  };
  let timer = clock.after(beatMs, beat, { background: true });
  return {
    hasJustEnded() {
      // Sockets may be read before the timer.
      look();
      return clock.now() - endedAt < recentMs;
    },
    stop: () => timer.cancel(),
  };
}
