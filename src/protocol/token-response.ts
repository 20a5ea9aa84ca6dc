import { isRecord } from './error-body.ts';

/** Body of the token response. Specification: "Token response (JSON body)". */
export interface TokenResponse {
  token: string;
}

/** Rule 4 of the token endpoint: "The response must not be cached." */
export const cacheControl = 'no-cache, no-store, must-revalidate';

/** More than any JWT needs; the emulator refuses a longer first message unread. */
export const maxTokenBytes = 4 * 1024;

/**
 * Whether a token can be the first message of a stream as it is: neither a JWT nor an opaque token has white space, controls or
 * other characters that cannot be seen.
 */
export function isSendable(token: string): boolean {
  return !/[\s\p{C}]/u.test(token);
}

/** The token in a response body, or undefined without one. Other fields are ignored. */
export function readTokenResponse(body: unknown): string | undefined {
  return isRecord(body) && typeof body.token === 'string' && body.token !== '' ? body.token : undefined;
}
