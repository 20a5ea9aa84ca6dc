import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';

/** What a JWT says, unverified: the key to verify it is the service's. */
export interface DecodedToken {
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
}

/** Reads a JWT; undefined where the token is not one. Specification: "JWT claims". */
export function readToken(token: string): DecodedToken | undefined {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}
