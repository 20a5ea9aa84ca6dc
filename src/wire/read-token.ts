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
