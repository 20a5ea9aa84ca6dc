import { msForBytes } from '../../protocol/audio-format.ts';

/** How regularly audio arrives, and how far it is ahead of real time. Times are monotonic milliseconds. */
export interface Arrivals {
  /** `isDelayedByUs`: it was read late. That says nothing about when it came. */
  note(bytes: number, now: number, isDelayedByUs?: boolean): void;
  /** How much later than the earliest a recent message came: the jitter that a buffer must absorb. */
  readonly latenessMs: number;
  /** Length of the longest recent message. */
  readonly messageMs: number;
  /** How much more audio came than time has passed. 0 if the service keeps real time. */
  aheadMs(now: number): number;
  /** Whether the next message is not overdue. */
  isFlowing(now: number): boolean;
  /** Whether the next message has not come in time. */
  isLate(now: number): boolean;
  /** Starts again: earlier arrivals say nothing about a new reply. */
  restart(): void;
}

/** Lateness is remembered for one to two of these. */
const memoryMs = 5_000;
/**
 * A service whose clock is fast by less than this keeps real time. If it sends faster, its audio is meant to wait.
 * Sound cards and servers are within 0.1 %.
 */
const realTimeFactor = 1.005;
const furthestBehindMs = -1_000;
const overdueMs = 100;
const lateMs = 5;

export function createArrivals(): Arrivals {
  let startedAt: number | undefined;
  let audioMs = 0;
  let ahead = 0;
  let lastAt = 0;
  let lastMs = 0;
  /** Of the current stretch and the one before. */
  let stretchAt = 0;
  let earliest: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let latest: [number, number] = [0, 0];
  let longest: [number, number] = [0, 0];

  const aheadAt = (now: number) =>
    Math.max(furthestBehindMs, ahead + lastMs - realTimeFactor * (now - lastAt));
  return {
    note(bytes, now, isDelayedByUs = false) {
      if (startedAt === undefined) {
        startedAt = now;
        stretchAt = now;
        audioMs = 0;
        ahead = 0;
      } else ahead = aheadAt(now);
      if (now - stretchAt >= memoryMs) {
        stretchAt = now;
        earliest = [Number.POSITIVE_INFINITY, earliest[0]];
        latest = [0, latest[0]];
        longest = [0, longest[0]];
      }
      const transit = now - startedAt - audioMs;
      earliest[0] = Math.min(earliest[0], transit);
      if (!isDelayedByUs) latest[0] = Math.max(latest[0], transit - Math.min(...earliest));
      lastAt = now;
      lastMs = msForBytes(bytes);
      longest[0] = Math.max(longest[0], lastMs);
      audioMs += lastMs;
    },
    get latenessMs() {
      return Math.max(...latest);
    },
    get messageMs() {
      return Math.max(...longest);
    },
    aheadMs: (now) => (startedAt === undefined ? 0 : Math.max(0, aheadAt(now))),
    isFlowing: (now) => startedAt !== undefined && now - lastAt <= lastMs + overdueMs,
    isLate: (now) => startedAt !== undefined && now - lastAt > lastMs + lateMs,
    restart() {
      startedAt = undefined;
      [lastMs, ahead] = [0, 0];
      earliest = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    },
  };
}
