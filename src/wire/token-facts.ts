import { createHash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import type { Redactor } from '../kernel/redact.ts';
import { findToken, firstBinaryProblem, firstTextProblem } from '../protocol/first-message.ts';
import { isNestedWithin, readableLevels } from '../protocol/parse-json.ts';
import { concealTokensIn } from './conceal.ts';
import type { PresentedToken, TokenFacts } from './exchange.ts';

/** The content of a JWT, unverified: only the service has the key to verify it. */
export interface DecodedToken {
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
}

/** Reads a JWT; undefined if the token is not one. Specification: "JWT claims". */
export function readToken(token: string): DecodedToken | undefined {
  try {
    const decoded = { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
    return isNestedWithin(decoded, readableLevels) ? decoded : undefined;
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
  return 'its parts contain characters that base64url does not have';
}

/** The facts that evidence keeps instead of a token. A service may put a key or another token into the claims. */
export function tokenFacts(token: string, redactor: Pick<Redactor, 'value'>): TokenFacts {
  const decoded = readToken(token);
  const flaw = decoded && spellingFlaw(token);
  return {
    hash: createHash('sha256').update(token).digest('base64url'),
    bytes: Buffer.byteLength(token),
    header: concealTokensIn(redactor.value(decoded?.header)),
    claims: concealTokensIn(redactor.value(decoded?.claims)),
    ...(flaw === undefined ? {} : { flaw }),
  };
}

/** The first message of a device as evidence: the facts of its token, and what is wrong with its form. The redactor learns it. */
export function readPresented(
  message: string,
  isBinary: boolean,
  redactor: Pick<Redactor, 'value' | 'conceal'>,
): PresentedToken {
  const token = findToken(message) ?? message;
  for (const secret of new Set([message, token])) redactor.conceal(secret);
  const bytes = Buffer.byteLength(message);
  const problem = isBinary ? firstBinaryProblem(bytes, true) : firstTextProblem(message);
  return {
    opcode: isBinary ? 'binary' : 'text',
    token: tokenFacts(token, redactor),
    bytes,
    ...(problem === undefined ? {} : { problem }),
  };
}
