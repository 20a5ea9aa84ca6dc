import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { isNestedWithin } from '../protocol/parse-json.ts';

/** The content of a JWT, unverified: only the service has the key to verify it. */
export interface DecodedToken {
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
}

/** Deeper than any claim: beyond a few thousand levels nothing could copy or print it. */
const maxNesting = 100;

/** Reads a JWT; undefined if the token is not one. Specification: "JWT claims". */
export function readToken(token: string): DecodedToken | undefined {
  try {
    const decoded = { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
    return isNestedWithin(decoded, maxNesting) ? decoded : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Why a readable token is not three base64url parts; undefined if it is. Base64url has no
 * padding: RFC 7515, section 2.
 */
export function spellingFlaw(token: string): string | undefined {
  if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined;
  if (token.includes('=')) return 'its parts are padded with =';
  if (/[+/]/.test(token)) return 'its parts are base64 with + and /';
  return 'its parts contain other characters';
}
