import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { rateLimitWindowMs } from '../../protocol/rate-limit.ts';

/** A token bucket refills in fractions of a request; a difference of this much is a rounding error. */
export const bucketRounding = 1e-6;

/** The requests of one device that count. All times are monotonic. There are many of these, so they are small. */
export interface RateWindow {
  count: number;
  /** The start of a fixed window; the oldest request of a sliding one; when the `count` of a bucket was last updated. */
  at: number;
  /** Sliding: when each request came, oldest first. */
  times?: number[];
}

/** How requests stop counting. Call `update` first; only `emptyAt` does not need that. */
export interface WindowKind {
  /** Removes requests that no longer count. */
  update(window: RateWindow, now: number): void;
  /** Counts one request. */
  add(window: RateWindow, now: number): void;
  /** Corrects a moment of the wall clock that is a millisecond off. */
  snap?(wallMs: number): number;
  /** When the limit resets. */
  resetAt(window: RateWindow): number;
  /** When the next request is allowed once the limit is reached. */
  retryAt(window: RateWindow): number;
  /** When nothing counts any more. */
  emptyAt(window: RateWindow): number;
}

/** How long it is from `now` until `until`, in milliseconds. To the microsecond, so that a minute is not a little longer. */
export function restUntil(until: number, now: number): number {
  return Math.round((until - now) * 1_000) / 1_000;
}

/** The kind of window that the dialect chooses. `clock` is read for `calendar-minute` only. */
export function createWindowKind(
  { window }: Pick<Dialect['rateLimit'], 'window'>,
  limit: number,
  clock: Clock,
): WindowKind {
  switch (window) {
    case 'first-request':
      return fixedWindow((now) => now);
    case 'calendar-minute':
      return {
        ...fixedWindow((now) => now - (clock.wall() % rateLimitWindowMs)),
        snap(wallMs) {
          const minute = Math.round(wallMs / rateLimitWindowMs) * rateLimitWindowMs;
          return Math.abs(wallMs - minute) <= 2 ? minute : wallMs;
        },
      };
    case 'sliding':
      return slidingWindow(limit);
    case 'token-bucket':
      return tokenBucket(limit);
  }
}

/** Its requests stop counting together. */
function fixedWindow(startOf: (now: number) => number): WindowKind {
  const endOf = ({ at }: RateWindow) => at + rateLimitWindowMs;
  return {
    update(window, now) {
      if (endOf(window) <= now) window.count = 0;
    },
    add(window, now) {
      if (window.count === 0) window.at = startOf(now);
      window.count += 1;
    },
    resetAt: endOf,
    retryAt: endOf,
    emptyAt: endOf,
  };
}

/** Only the last `limit` requests are kept: earlier ones decide nothing. */
function slidingWindow(limit: number): WindowKind {
  const oldestEndsAt = ({ at }: RateWindow) => at + rateLimitWindowMs;
  return {
    update(window, now) {
      const times = window.times?.filter((time) => time + rateLimitWindowMs > now) ?? [];
      Object.assign(window, { times, count: times.length, at: times[0] ?? now });
    },
    add(window, now) {
      const { times = [] } = window;
      window.count += 1;
      window.times = [...times, now].slice(-Math.max(1, limit));
      window.at = window.times[0] ?? now;
    },
    resetAt: oldestEndsAt,
    retryAt: oldestEndsAt,
    emptyAt: ({ at, times }) => (times?.at(-1) ?? at) + rateLimitWindowMs,
  };
}

/** `count` has fractions: it falls continuously. */
function tokenBucket(limit: number): WindowKind {
  const msPerRequest = rateLimitWindowMs / limit;
  const atCount = ({ at, count }: RateWindow, wanted: number) => at + (count - wanted) * msPerRequest;
  return {
    update(window, now) {
      window.count = Math.max(0, window.count - (now - window.at) / msPerRequest);
      window.at = now;
    },
    add(window) {
      window.count = Math.min(limit, window.count + 1);
    },
    resetAt: (window) => atCount(window, 0),
    retryAt: (window) => atCount(window, limit - 1),
    emptyAt: (window) => atCount(window, 0),
  };
}
