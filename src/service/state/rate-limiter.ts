import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { rateLimitWindowMs } from '../../protocol/rate-limit.ts';
import type { CountedRequest } from './state.ts';
import { bucketRounding, createWindowKind, type RateWindow, restUntil } from './windows.ts';

/** Maximum number of devices whose windows are kept. Beyond it the devices seen longest ago that are not at their limit are dropped. */
const maxDevices = 50_000;
/**
 * To find its oldest entry, a map passes every entry that it has deleted. So devices are dropped rarely: once in this
 * time, or if the map is full.
 */
const purgeEveryMs = 1_000;
/** A full map gets room for this many devices at once. */
const purgeDevices = 1_000;

export interface RateLimiter {
  readonly limit: number;
  /** Counts one request of a device, in one synchronous step, and says whether it is within the limit. */
  countRequest(device: string): CountedRequest;
  /** The same without counting it. */
  look(device: string): CountedRequest;
  /** The open windows. `resetAtMs` is wall-clock time. */
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
 * "60 per minute per device; rolling 60-second window; the limit resets 60 seconds after the first
 * request." Specification: "Limits". Devices at their limit are kept apart, so that a flood of other
 * devices cannot push them out. Both maps are in the order in which the devices were last seen.
 */
export function createRateLimiter({ clock, limit, settings }: RateLimiterOptions): RateLimiter {
  const open = new Map<string, RateWindow>();
  const limiting = new Map<string, RateWindow>();
  const kind = createWindowKind(settings, limit, clock);
  const hasRoom = ({ count }: RateWindow) => count + 1 <= limit + bucketRounding;

  /** Stops at the first device to keep: each one behind it was seen later, so it waits at most one window. */
  const purge = (windows: Map<string, RateWindow>, now: number, most: number) => {
    for (const [device, window] of windows) {
      if (kind.emptyAt(window) > now && windows.size <= most) break;
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

  /** How far the wall clock is ahead of the monotonic one. */
  let aheadMs = Number.NEGATIVE_INFINITY;

  const find = (device: string) => open.get(device) ?? limiting.get(device);
  /** A known window up to date, or a new one. */
  const upToDate = (known: RateWindow | undefined, now: number): RateWindow => {
    const window = known ?? { count: 0, at: now };
    kind.update(window, now);
    return window;
  };

  /** As wall-clock time in whole milliseconds; rounded up, so that a client that waits for it is never early. */
  const wallAt = (at: number, now: number) => {
    const ahead = clock.wall() - now;
    // The wall clock has whole milliseconds. A moment keeps its time unless somebody sets the clock.
    if (Math.abs(ahead - aheadMs) > 2) aheadMs = ahead;
    const wallMs = Math.ceil(at + aheadMs);
    return kind.snap?.(wallMs) ?? wallMs;
  };

  const describe = (window: RateWindow, allowed: boolean, now: number): CountedRequest => {
    const remaining = Math.max(0, Math.floor(limit - window.count + bucketRounding));
    const resetAt = window.count === 0 ? now + rateLimitWindowMs : kind.resetAt(window);
    const retryAt = window.count === 0 ? resetAt : kind.retryAt(window);
    const resetAtMs = wallAt(resetAt, now);
    const retryAtMs = retryAt === resetAt ? resetAtMs : wallAt(retryAt, now);
    const [resetInMs, retryInMs] = [restUntil(resetAt, now), restUntil(retryAt, now)];
    return { allowed, limit, remaining, resetAtMs, resetInMs, retryAtMs, retryInMs };
  };

  return {
    limit,
    windows() {
      const now = clock.now();
      const windows = [...open, ...limiting];
      for (const [, window] of windows) kind.update(window, now);
      return windows
        .filter(([, window]) => window.count > 0)
        .map(([device, window]) => ({
          device,
          requests: Math.ceil(window.count - bucketRounding),
          resetAtMs: wallAt(kind.resetAt(window), now),
        }));
    },
    clear() {
      open.clear();
      limiting.clear();
    },
    look(device) {
      const now = clock.now();
      const window = upToDate(find(device), now);
      return describe(window, hasRoom(window), now);
    },
    countRequest(device) {
      const now = clock.now();
      purgeSeldom(now);
      const known = find(device);
      const window = upToDate(known, now);
      const allowed = hasRoom(window);
      if (allowed || settings.counts === 'all') kind.add(window, now);
      if (known !== undefined && !open.delete(device)) limiting.delete(device);
      if (window.count > 0) (hasRoom(window) ? open : limiting).set(device, window);
      return describe(window, allowed, now);
    },
  };
}
