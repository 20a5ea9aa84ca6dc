import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { type RateLimit, rateLimitWindowMs } from '../../protocol/rate-limit.ts';

/** Devices whose window is remembered at once; beyond it the one heard of longest ago, that is not limiting, is forgotten. */
const maxDevices = 50_000;
/**
 * Forgetting walks a map from its start over all that was deleted there, so it is done seldom: after so many devices
 * too many, or so much time.
 */
const purgeDevices = 1_000;
const purgeEveryMs = 1_000;

export interface RateLimiter {
  readonly limit: number;
  /** Counts one request of a device, in one synchronous step, and says whether it is within the limit. */
  take(device: string): RateLimit & { allowed: boolean };
  /** The windows that are open. `resetAtMs` is wall-clock time. */
  windows(): { device: string; requests: number; resetAtMs: number }[];
  /** Forgets every window. */
  clear(): void;
}

export interface RateLimiterOptions {
  clock: Clock;
  limit: number;
  settings: Pick<Dialect['rateLimit'], 'window' | 'counts'>;
}

/**
 * A window holds the monotonic times of the requests in it, oldest first: the last `limit` of them, since no
 * earlier one can matter; for `first-request` only the first time and a count.
 */
interface Window {
  times: number[];
  count: number;
}

/**
 * "60 per minute per device; rolling 60-second window; the limit resets 60 seconds after the first
 * request." Specification: "Limits". Devices at their limit are kept apart, so that no flood of other
 * devices makes one of them forgotten. Both maps are in the order in which the devices were last heard of.
 */
export function createRateLimiter({ clock, limit, settings }: RateLimiterOptions): RateLimiter {
  const open = new Map<string, Window>();
  const limiting = new Map<string, Window>();
  const sliding = settings.window === 'sliding';

  /** When the oldest request that counts no longer does, and when none does. */
  const resetAt = ({ times }: Window) => (times[0] ?? 0) + rateLimitWindowMs;
  const emptyAt = ({ times }: Window) => (times.at(-1) ?? 0) + rateLimitWindowMs;

  /** Stops at the first device to be kept: one behind it was heard of later, so it waits a window at most. */
  const purge = (windows: Map<string, Window>, now: number, most: number) => {
    for (const [device, window] of windows) {
      if (emptyAt(window) > now && windows.size <= most) break;
      windows.delete(device);
    }
  };

  let nextPurgeAt = 0;
  const purgeSeldom = (now: number) => {
    if (now < nextPurgeAt && open.size < maxDevices) return;
    nextPurgeAt = now + purgeEveryMs;
    purge(open, now, maxDevices - purgeDevices);
    purge(limiting, now, Number.POSITIVE_INFINITY);
  };

  const known = (device: string): Window | undefined => open.get(device) ?? limiting.get(device);

  /** Takes from a window what no longer counts. */
  const update = (window: Window, now: number) => {
    if (sliding) {
      const kept = window.times.filter((time) => time + rateLimitWindowMs > now);
      window.times = kept;
      window.count = kept.length;
    } else if (window.count > 0 && resetAt(window) <= now) {
      window.times = [];
      window.count = 0;
    }
  };

  return {
    limit,
    windows() {
      const now = clock.now();
      const windows = [...open, ...limiting];
      for (const [, window] of windows) update(window, now);
      return windows
        .filter(([, window]) => window.count > 0)
        .map(([device, window]) => ({
          device,
          requests: window.count,
          resetAtMs: clock.wall() + resetAt(window) - now,
        }));
    },
    clear() {
      open.clear();
      limiting.clear();
    },
    take(device) {
      const now = clock.now();
      purgeSeldom(now);
      const before = known(device);
      const window = before ?? { times: [], count: 0 };
      update(window, now);
      const allowed = window.count < limit;
      if (allowed || settings.counts === 'all') {
        window.count += 1;
        if (sliding || window.times.length === 0) window.times.push(now);
        if (window.times.length > Math.max(1, limit)) window.times.shift();
      }
      if (before !== undefined && !open.delete(device)) limiting.delete(device);
      if (window.count > 0) (window.count >= limit ? limiting : open).set(device, window);
      const resetInMs = window.count === 0 ? rateLimitWindowMs : resetAt(window) - now;
      return {
        allowed,
        limit,
        remaining: Math.max(0, limit - window.count),
        resetAtMs: clock.wall() + resetInMs,
      };
    },
  };
}
