import type { Clock } from '../../kernel/clock.ts';

/** The `jti` of used tokens, until they have expired. */
export interface SpentTokens {
  /** Marks a token as used, in one synchronous step; false if it was used before. */
  add(jti: string, expSeconds: number): boolean;
  has(jti: string): boolean;
}

/**
 * Remembers the claim, not the text of the token: a signature has two encodings that both verify. Holds at most the
 * tokens of one lifetime.
 */
export function createSpentTokens(clock: Clock): SpentTokens {
  const expiries = new Map<string, number>();
  return {
    has: (jti) => expiries.has(jti),
    add(jti, expSeconds) {
      const now = clock.wall() / 1000;
      for (const [old, expiry] of expiries) {
        if (expiry > now) break;
        expiries.delete(old);
      }
      if (expiries.has(jti)) return false;
      expiries.set(jti, expSeconds);
      return true;
    },
  };
}
