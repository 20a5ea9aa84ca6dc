import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { rateLimitWindowMs } from '../../protocol/rate-limit.ts';

/** The requests of one device that count. Each kind of window uses `times` in its own way; all times are monotonic. */
export interface Window {
  times: number[];
  count: number;
}

/** How requests stop counting. Call `update` first; only `emptyAt` does not need that. */
export interface WindowKind {
  /** Removes requests that no longer count. */
  update(window: Window, now: number): void;
  /** Counts one request. */
  add(window: Window, now: number): void;
  /** When the limit resets. */
  resetAt(window: Window): number;
  /** When the next request is allowed once the limit is reached. */
  retryAt(window: Window): number;
  /** When nothing counts any more. */
  emptyAt(window: Window): number;
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
      return fixedWindow((now) => now - (clock.wall() % rateLimitWindowMs));
    case 'sliding':
      return slidingWindow(limit);
    case 'token-bucket':
      return tokenBucket(limit);
  }
}

/** `times`: the start of the window. Its requests stop counting together. */
function fixedWindow(startOf: (now: number) => number): WindowKind {
  const endOf = ({ times }: Window) => (times[0] ?? 0) + rateLimitWindowMs;
  return {
    update(window, now) {
      if (window.count === 0 || endOf(window) > now) return;
      window.times = [];
      window.count = 0;
    },
    add(window, now) {
      window.count += 1;
      // A new array has room for one; an empty one that grows gets room for 17, and there are many devices.
      if (window.times.length === 0) window.times = [startOf(now)];
    },
    resetAt: endOf,
    retryAt: endOf,
    emptyAt: endOf,
  };
}

/** `times`: when each request came, oldest first. Only the last `limit` are kept: earlier ones decide nothing. */
function slidingWindow(limit: number): WindowKind {
  const oldestEndsAt = ({ times }: Window) => (times[0] ?? 0) + rateLimitWindowMs;
  return {
    update(window, now) {
      window.times = window.times.filter((time) => time + rateLimitWindowMs > now);
      window.count = window.times.length;
    },
    add(window, now) {
      window.count += 1;
      if (window.times.length === 0) window.times = [now];
      else window.times.push(now);
      if (window.times.length > Math.max(1, limit)) window.times.shift();
    },
    resetAt: oldestEndsAt,
    retryAt: oldestEndsAt,
    emptyAt: ({ times }) => (times.at(-1) ?? 0) + rateLimitWindowMs,
  };
}

/** `times`: when `count` was last updated. `count` has fractions: it falls continuously. */
function tokenBucket(limit: number): WindowKind {
  const msPerRequest = rateLimitWindowMs / limit;
  const atCount = ({ times, count }: Window, wanted: number) =>
    (times[0] ?? 0) + (count - wanted) * msPerRequest;
  return {
    update(window, now) {
      const passed = now - (window.times[0] ?? now);
      window.count = Math.max(0, window.count - passed / msPerRequest);
      window.times = [now];
    },
    add(window) {
      window.count = Math.min(limit, window.count + 1);
    },
    resetAt: (window) => atCount(window, 0),
    retryAt: (window) => atCount(window, limit - 1),
    emptyAt: (window) => atCount(window, 0),
  };
}
