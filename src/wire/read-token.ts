import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';

/** The content of a JWT, unverified: only the service has the key to verify it. */
export interface DecodedToken {
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
}

/** Reads a JWT; undefined if the token is not one. Specification: "JWT claims". */
export function readToken(token: string): DecodedToken | undefined {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** Whether a binary message is a JWT that should have come as text. */
export function isTokenLike(message: Buffer): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]*\s*$/.test(message.toString('latin1', 0, 8_192));
}
