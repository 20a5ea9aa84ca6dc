import type { TokenClaims } from '../../protocol/claims.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { rateLimitWindowMs } from '../../protocol/rate-limit.ts';
import { type State, type Survey, stateUnavailable } from '../../service/state/state.ts';
import { maxIssued, type SharedJournal } from './journal.ts';
import type { RedisKeys } from './keys.ts';
import type { SharedLeases } from './leases.ts';
import type { RedisLink } from './link.ts';
import { spendScript } from './scripts/slots.ts';
import { forgetScript, surveyScript } from './scripts/window.ts';
import type { SharedWindows } from './windows.ts';

/** Maximum number of devices that are shown: Redis looks at each of them while all other commands wait. */
const maxDevices = 2_000;
/** A used token is remembered for this long after it has expired, milliseconds. */
const spareMs = 60_000;

export interface RedisStateOptions {
  link: RedisLink;
  keys: RedisKeys;
  dialect: Pick<Dialect, 'token' | 'rateLimit'>;
  rateLimit: number;
  windows: SharedWindows;
  leases: SharedLeases;
  journal: SharedJournal;
  /** Wall-clock time of the service. */
  nowMs: () => number;
  clockOffset: () => number;
  /** Moves the clock of all emulators. */
  advance: (ms: number) => Promise<void>;
  /** Called with what in Redis is ignored, because another program wrote it. */
  onForeign: (what: string) => void;
  /** Makes all emulators forget what they know of windows. */
  forgetAll: () => Promise<void>;
}

/** The state that several emulators share in Redis. A call that fails with `connect-failed` may still have been done. */
export function createRedisState(options: RedisStateOptions): State {
  const { link, keys, dialect, rateLimit, windows, leases, journal, nowMs } = options;
  const { singleUse, clockToleranceSeconds } = dialect.token;
  return {
    journal,
    countRequest: windows.count,
    lookAtLimit: windows.look,
    rememberIssued: journal.rememberIssued,
    leaseSlot: leases.acquire,
    async spendToken({ sub, jti, iat, exp }: TokenClaims) {
      const leftMs = Math.ceil((exp + clockToleranceSeconds) * 1000 - nowMs());
      const of = [keys.service, keys.spent(sub, jti)];
      const [, isFirst] = await link.run(spendScript, of, [iat, Math.max(0, leftMs) + spareMs]);
      if (isFirst === -1)
        throw stateUnavailable('The token is from before the shared state was lost: request a new one');
      return isFirst === 1 || !singleUse;
    },
    async survey() {
      await journal.flush();
      const about = [dialect.rateLimit.window, rateLimit, rateLimitWindowMs, maxDevices, maxIssued];
      const of = [keys.service, keys.devices, keys.issued];
      const [, text] = await link.run(surveyScript, of, [...about, keys.prefix]);
      return readSurvey(String(text), options);
    },
    clockOffset: options.clockOffset,
    advance: options.advance,
    async forget() {
      await journal.flush();
      await options.forgetAll();
      const of = [keys.service, keys.devices, keys.issued, keys.journal];
      await link.run(forgetScript, of, [keys.prefix]);
    },
  };
}

type Row = [device: string, count: string, first: number, connections: number];

/** Lua writes an empty list as an empty object. */
const listOf = <Item>(value: unknown): Item[] => (Array.isArray(value) ? value : []);

function readSurvey(
  text: string,
  { windows, onForeign }: Pick<RedisStateOptions, 'windows' | 'onForeign'>,
): Survey {
  const found = JSON.parse(text) as { devices: unknown; tokens: unknown; foreign: number };
  if (found.foreign > 0) onForeign('keys of devices or tokens');
  const devices = listOf<Row>(found.devices);
  return {
    windows: devices
      .filter(([, count]) => Number(count) > 0)
      .map(([device, count, first]) => windows.show(device, { count: Number(count), at: first })),
    connections: new Map(
      devices.filter(([, , , count]) => count > 0).map(([device, , , count]) => [device, count]),
    ),
    tokens: listOf<[string, number]>(found.tokens).map(([token, used]) => ({
      token: JSON.parse(token) as TokenClaims,
      used: used === 1,
    })),
  };
}
