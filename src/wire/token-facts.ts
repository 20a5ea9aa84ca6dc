import { createHash } from 'node:crypto';
import type { Redactor } from '../kernel/redact.ts';
import { findToken, firstBinaryProblem, firstTextProblem } from '../protocol/first-message.ts';
import type { PresentedToken, TokenFacts } from './exchange.ts';
import { readToken, spellingFlaw } from './read-token.ts';

/** The facts that evidence keeps instead of a token. A service may put a key into the claims. */
export function tokenFacts(token: string, redactor: Pick<Redactor, 'value'>): TokenFacts {
  const decoded = readToken(token);
  const flaw = decoded && spellingFlaw(token);
  return {
    hash: createHash('sha256').update(token).digest('base64url'),
    bytes: Buffer.byteLength(token),
    header: redactor.value(decoded?.header),
    claims: redactor.value(decoded?.claims),
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
