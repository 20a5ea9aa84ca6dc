/** "A token is valid from issue until exp (60 seconds) and cannot be renewed." */
export const tokenLifetimeSeconds = 60;

/** Content of `aud`. Specification: "JWT claims". */
export const audience = 'voice-api';

/** The claims of a token. Specification: "JWT claims"; `jti` is the emulator's own, and makes single use possible. */
export interface TokenClaims {
  /** The device ID from the request. */
  sub: string;
  /** Issue time, seconds since the epoch. */
  iat: number;
  /** Expiry, seconds since the epoch: `iat` + 60. */
  exp: number;
  aud: string;
  iss: string;
  /** If the dialect leaves it out of tokens, this is the hash of the token. */
  jti: string;
}

/** Names that a dialect's extra claims cannot use: the specification defines them. */
export const reservedClaims: readonly string[] = ['sub', 'iat', 'exp', 'aud', 'iss', 'jti'];

export interface ClaimsInput {
  deviceId: string;
  issuer: string;
  jti: string;
  /** Wall-clock milliseconds. */
  nowMs: number;
}

/** The claims of a token issued now. */
export function buildClaims({ deviceId, issuer, jti, nowMs }: ClaimsInput): TokenClaims {
  const iat = Math.floor(nowMs / 1000);
  return { sub: deviceId, iat, exp: iat + tokenLifetimeSeconds, aud: audience, iss: issuer, jti };
}
