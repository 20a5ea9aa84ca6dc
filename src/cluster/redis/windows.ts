import type { Dialect } from '../../protocol/dialect.ts';
import { rateLimitWindowMs } from '../../protocol/rate-limit.ts';
import type { CountedRequest, Survey } from '../../service/state/state.ts';
import { bucketRounding, createWindowKind, type RateWindow, restUntil } from '../../service/state/windows.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisKeys } from './keys.ts';
import type { RedisLink } from './link.ts';
import { countScript, restoreWindowScript } from './scripts/window.ts';

export interface SharedWindows {
  count(device: string): Promise<CountedRequest>;
  look(device: string): Promise<CountedRequest>;
  /** An open window, as the control API shows it. */
  show(device: string, window: RateWindow): Survey['windows'][number];
  /**
   * Gives back to Redis what this emulator knows, if the life is anew; else only what a connection that was lost did not give
   * back. Nothing twice: a sliding window would count it twice.
   */
  restore(connection: RedisConnection, life: string, isAnew: boolean): Promise<void>;
  /** Forgets the windows that are over, or all. */
  purge(nowMs: number): void;
  clear(): void;
}

export interface SharedWindowsOptions {
  link: RedisLink;
  keys: RedisKeys;
  limit: number;
  settings: Pick<Dialect['rateLimit'], 'window' | 'counts'>;
}

/** What this emulator knows of a device's window: if it slides, its own requests; else the whole window at its last request. */
interface Seen {
  count: number;
  times: number[];
  at: number;
}

/** The rate windows of all emulators. Times are those of the service, in wall-clock milliseconds. */
export function createSharedWindows({ link, keys, limit, settings }: SharedWindowsOptions): SharedWindows {
  const kind = createWindowKind(settings, limit, {
    wall: () => 0,
    now: () => 0,
    after: () => ({ cancel() {} }),
  });
  const seen = new Map<string, Seen>();
  /** The devices whose windows have not been given back yet. */
  let unrestored = new Set<string>();
  const about = [settings.window, limit, rateLimitWindowMs];

  const describe = (window: RateWindow, allowed: boolean, now: number): CountedRequest => {
    const remaining = Math.max(0, Math.floor(limit - window.count + bucketRounding));
    const resetAt = window.count === 0 ? now + rateLimitWindowMs : kind.resetAt(window);
    const retryAt = window.count === 0 ? resetAt : kind.retryAt(window);
    const whole = (at: number) => Math.ceil(at - bucketRounding);
    return {
      ...{ allowed, limit, remaining },
      ...{ resetAtMs: whole(resetAt), resetInMs: restUntil(resetAt, now) },
      ...{ retryAtMs: whole(retryAt), retryInMs: restUntil(retryAt, now) },
    };
  };
  const remember = (device: string, { count, at }: RateWindow, now: number) => {
    const before = settings.window === 'sliding' ? (seen.get(device)?.times ?? []) : [];
    const kept = settings.window === 'sliding' ? [...before, now].slice(-Math.max(1, limit)) : [at];
    seen.delete(device);
    // Whatever kept it from being restored, Redis counts it now.
    unrestored.delete(device);
    seen.set(device, { count, times: kept, at: now });
  };
  const ask = async (device: string, counts: 'all' | 'accepted' | 'none') => {
    const of = [keys.service, keys.window(device), keys.devices];
    const [, isAllowed, count, first, now] = await link.run(countScript, of, [...about, counts, device]);
    const window = { count: Number(count), at: Number(first) };
    const allowed = isAllowed === 1;
    if (counts === 'all' || (counts === 'accepted' && allowed)) remember(device, window, Number(now));
    return describe(window, allowed, Number(now));
  };
  return {
    count: (device) => ask(device, settings.counts),
    look: (device) => ask(device, 'none'),
    show: (device, window) => ({
      device,
      requests: Math.ceil(window.count - bucketRounding),
      resetAtMs: Math.ceil(kind.resetAt(window) - bucketRounding),
    }),
    async restore(connection, life, isAnew) {
      if (isAnew) unrestored = new Set(seen.keys());
      const given = [...unrestored].map(async (device) => {
        const { count, times } = seen.get(device) ?? { count: 0, times: [] };
        const of = [keys.service, keys.window(device), keys.devices];
        await connection.run(restoreWindowScript, of, [life, ...about, device, count, ...times]);
        unrestored.delete(device);
      });
      // A window that fails because of the content of its key does not keep others from being restored.
      await Promise.allSettled(given);
    },
    purge(nowMs) {
      for (const [device, { at }] of seen) {
        if (at + rateLimitWindowMs > nowMs) break;
        seen.delete(device);
        unrestored.delete(device);
      }
    },
    clear() {
      seen.clear();
      unrestored.clear();
    },
  };
}
