import type { MovableClock } from '../../kernel/clock.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { createConnectionSlots } from './connection-slots.ts';
import { createJournal, type Journal } from './journal.ts';
import { createNewest } from './newest.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { createSpentTokens } from './spent-tokens.ts';
import type { LocalState } from './state.ts';
import { weigh } from './weigh.ts';

/** Most unexpired tokens that are shown. */
const maxIssued = 10_000;
const issuedBytes = 16 * 1024 * 1024;

export interface MemoryStateOptions {
  clock: MovableClock;
  dialect: Pick<Dialect, 'token' | 'rateLimit'>;
  /** Token requests per device and window. */
  rateLimit: number;
  /** Connections per device. */
  maxConnections: number;
}

export type MemoryState = LocalState & { readonly journal: Journal };

/** The state of one emulator in memory. Every call is synchronous. */
export function createMemoryState({
  clock,
  dialect,
  rateLimit,
  maxConnections,
}: MemoryStateOptions): MemoryState {
  const { singleUse, clockToleranceSeconds } = dialect.token;
  const limiter = createRateLimiter({ clock, limit: rateLimit, settings: dialect.rateLimit });
  const slots = createConnectionSlots(maxConnections);
  const spent = createSpentTokens(clock);
  const issued = createNewest<TokenClaims>({ maxItems: maxIssued, maxBytes: issuedBytes, weigh });
  const journal = createJournal();
  let offset = 0;
  return {
    journal,
    countRequest: limiter.countRequest,
    lookAtLimit: limiter.look,
    rememberIssued: issued.add,
    spendToken: ({ jti, exp }) => spent.add(jti, exp + clockToleranceSeconds) || !singleUse,
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
