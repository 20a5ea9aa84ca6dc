/** Counts audible holes in a reply, and distinguishes them from its end. */
export interface Holes {
  /** Takes played samples, −1 to 1. */
  played(samples: Float32Array): void;
  /** There is nothing to play from now on. `isLate`: because audio is late, and not because the device wants more. */
  began(now: number, isLate: boolean): void;
  /** There is something to play again. */
  ended(now: number): void;
  /** The following silence is intended. */
  forget(): void;
  readonly count: number;
  /** How many there were over the last minute because audio was late. */
  recent(now: number): number;
}

export interface HolesOptions {
  /** A shorter pause is always a hole. */
  patienceMs: number;
  /** After a longer pause comes another reply. */
  settleMs: number;
}

/** Above −50 dBFS speech has not ended. */
const audibleLevel = 0.003;
const recentMs = 60_000;

export function createHoles({ patienceMs, settleMs }: HolesOptions): Holes {
  let since: number | undefined;
  let wasLate = false;
  let wasAudible = false;
  let times: number[] = [];
  let count = 0;
  return {
    played(samples) {
      if (samples.length > 0) wasAudible = samples.some((sample) => Math.abs(sample) > audibleLevel);
    },
    began(now, isLate) {
      since = now;
      wasLate = isLate;
    },
    ended(now) {
      if (since === undefined) return;
      const ms = now - since;
      since = undefined;
      if (ms >= patienceMs && !(wasAudible && ms < settleMs)) return;
      count += 1;
      if (wasLate) times = [...times.slice(-9), now];
    },
    forget() {
      since = undefined;
    },
    get count() {
      return count;
    },
    recent: (now) => times.filter((at) => now - at < recentMs).length,
  };
}
