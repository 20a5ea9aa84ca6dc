import type { Clock, MovableClock } from '../../kernel/clock.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { createJournal, type Journal } from './journal.ts';
import { createNewest, estimateBytes } from './newest.ts';
import { createRateLimiter } from './rate-limiter.ts';
import type { LocalState, SlotLease } from './state.ts';

/** Maximum number of unexpired tokens that are shown. */
const maxIssued = 10_000;
const issuedBytes = 16 * 1024 * 1024;

export interface MemoryStateOptions {
  clock: MovableClock;
  dialect: Pick<Dialect, 'token' | 'rateLimit'>;
  /** Token requests per device and window. */
  rateLimit: number;
  /** Connections per device. */
  maxConnections: number;
  /** How many used tokens are remembered. By default all that have not expired: an emulator accepts none of them again. */
  maxSpent?: number;
}

export type MemoryState = LocalState & { readonly journal: Journal };

/** The state of one emulator in memory. Every call is synchronous. */
export function createMemoryState({
  clock,
  dialect,
  rateLimit,
  maxConnections,
  maxSpent,
}: MemoryStateOptions): MemoryState {
  const { singleUse, clockToleranceSeconds } = dialect.token;
  const limiter = createRateLimiter({ clock, limit: rateLimit, settings: dialect.rateLimit });
  const slots = createConnectionSlots(maxConnections);
  const spent = createSpentTokens(clock, maxSpent);
  const issued = createNewest<TokenClaims>({
    maxItems: maxIssued,
    maxBytes: issuedBytes,
    weigh: estimateBytes,
  });
  const journal = createJournal();
  let offset = 0;
  return {
    journal,
    countRequest: limiter.countRequest,
    lookAtLimit: limiter.look,
    rememberIssued: issued.add,
    // A token is checked in whole seconds: with part of a second as tolerance it is accepted until that second ends.
    spendToken: ({ jti, exp }) => spent.add(jti, Math.ceil(exp + clockToleranceSeconds)) || !singleUse,
    leaseSlot: slots.acquire,
    survey: () => ({
      windows: limiter.windows(),
      connections: slots.inUse(),
      tokens: issued
        .list()
        .filter(({ exp }) => exp * 1000 > clock.wall())
        .map((token) => ({ token, used: spent.has(token.jti) })),
    }),
    clockOffset: () => offset,
    advance(ms) {
      offset += ms;
      clock.advance(ms);
    },
    forget() {
      limiter.clear();
      issued.clear();
      journal.clear();
    },
  };
}

/** "Concurrent connections: 10 per device." Specification: "Limits". */
interface ConnectionSlots {
  /** Takes a slot in one synchronous step; undefined if the device has none left. */
  acquire(device: string): SlotLease | undefined;
  /** Slots in use, by device. */
  inUse(): ReadonlyMap<string, number>;
}

export function createConnectionSlots(perDevice: number): ConnectionSlots {
  const used = new Map<string, number>();
  const free = (device: string) => {
    const left = (used.get(device) ?? 0) - 1;
    if (left === 0) used.delete(device);
    else used.set(device, left);
  };
  return {
    inUse: () => new Map(used),
    acquire(device) {
      const connections = (used.get(device) ?? 0) + 1;
      if (connections > perDevice) return undefined;
      used.set(device, connections);
      let held = true;
      return {
        connections,
        release() {
          if (held) free(device);
          held = false;
        },
      };
    },
  };
}

/** The `jti` of used tokens, until they have expired. */
interface SpentTokens {
  /** Marks a token as used, in one synchronous step; false if it was used before. */
  add(jti: string, expSeconds: number): boolean;
  has(jti: string): boolean;
}

/**
 * Remembers the claim, not the text of the token: a signature has two encodings that both verify. Holds at most the
 * tokens of one lifetime, and at most the newest `most`.
 */
export function createSpentTokens(clock: Clock, most = Number.POSITIVE_INFINITY): SpentTokens {
  const expiries = new Map<string, number>();
  return {
    has: (jti) => expiries.has(jti),
    add(jti, expSeconds) {
      const now = clock.wall() / 1000;
      for (const [old, expiry] of expiries) {
        if (expiry > now && expiries.size < most) break;
        expiries.delete(old);
      }
      if (expiries.has(jti)) return false;
      expiries.set(jti, expSeconds);
      return true;
    },
  };
}
