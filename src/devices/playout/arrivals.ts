import { msForBytes } from '../../protocol/audio-format.ts';

/** How regularly audio arrives, and whether it is ahead of real time. Times are monotonic milliseconds. */
export interface Arrivals {
  /** `isDelayedByUs`: the message was read late, so its time says nothing about when it arrived. */
  add(bytes: number, now: number, isDelayedByUs?: boolean): void;
  /** How much later than the earliest ones messages repeatedly come: the jitter that a buffer must absorb. */
  readonly latenessMs: number;
  /** The length of the longest recent message. */
  readonly messageMs: number;
  /** Whether audio is arriving in real time. If it is ahead, it is meant to wait. */
  isLive(now: number): boolean;
  /** Whether the next message has not come in time. */
  isLate(now: number): boolean;
  /**
   * Audio arrives again after a pause. `isSameReply`: what was held up may now come all at once; if the service kept real
   * time before, that is not ahead of real time.
   */
  resume(isSameReply: boolean): void;
}

/** The earliest and the longest message are remembered for one to two times this. */
const memoryMs = 5_000;
/** For how many seconds lateness is remembered. */
const rememberedSeconds = 20;
/** Seconds before and after the latest message that count as the same delay. */
const sameDelaySeconds = 1;
/**
 * A service whose clock is fast by less than this keeps real time. If it sends faster, its audio is meant to wait. The
 * clocks of sound cards and servers are within 0.1 %.
 */
const realTimeFactor = 1.005;
const furthestBehindMs = -1_000;
/** A service that is further ahead than this does not keep real time. */
const realTimeMs = 100;
const overdueMs = 100;
const lateMs = 5;

export function createArrivals(): Arrivals {
  let startedAt: number | undefined;
  let audioMs = 0;
  let ahead = 0;
  let wasAhead = false;
  let lastAt: number | undefined;
  let lastMs = 0;
  /** Of the current period and the previous one. */
  let stretchAt = 0;
  let earliest: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let longest: [number, number] = [0, 0];
  /** The latest message of each second. */
  const latest = new Map<number, number>();

  const aheadAt = (now: number) =>
    lastAt === undefined ? 0 : Math.max(furthestBehindMs, ahead + lastMs - realTimeFactor * (now - lastAt));
  /** For how long the last message has been over. */
  const overdueAt = (now: number) => (lastAt === undefined ? 0 : now - lastAt - lastMs);
  const addLateness = (ms: number, now: number) => {
    const second = Math.floor(now / 1_000);
    latest.set(second, Math.max(ms, latest.get(second) ?? 0));
    for (const old of latest.keys()) if (old <= second - rememberedSeconds) latest.delete(old);
  };
  return {
    add(bytes, now, isDelayedByUs = false) {
      ahead = aheadAt(now);
      wasAhead ||= ahead > realTimeMs;
      if (startedAt === undefined) {
        startedAt = now;
        stretchAt = now;
        audioMs = 0;
      }
      if (now - stretchAt >= memoryMs) {
        stretchAt = now;
        earliest = [Number.POSITIVE_INFINITY, earliest[0]];
        longest = [0, longest[0]];
      }
      const transit = now - startedAt - audioMs;
      earliest[0] = Math.min(earliest[0], transit);
      if (!isDelayedByUs) addLateness(transit - Math.min(...earliest), now);
      lastAt = now;
      lastMs = msForBytes(bytes);
      longest[0] = Math.max(longest[0], lastMs);
      audioMs += lastMs;
    },
    get latenessMs() {
      // A delay that happened once says nothing about the next seconds: no buffer of a useful size would have absorbed it.
      const [worst = 0] = [...latest].toSorted(([, one], [, other]) => other - one)[0] ?? [];
      const others = [...latest].filter(([second]) => Math.abs(second - worst) > sameDelaySeconds);
      return Math.max(0, ...others.map(([, ms]) => ms));
    },
    get messageMs() {
      return Math.max(...longest);
    },
    isLive: (now) => lastAt !== undefined && overdueAt(now) <= overdueMs && aheadAt(now) <= realTimeMs,
    isLate: (now) => overdueAt(now) > lateMs,
    resume(isSameReply) {
      startedAt = undefined;
      earliest = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      if (isSameReply && !wasAhead) return;
      [lastMs, ahead, lastAt] = [0, 0, undefined];
      if (!isSameReply) wasAhead = false;
    },
  };
}
