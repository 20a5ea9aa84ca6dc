import { createHash } from 'node:crypto';
import type { Redactor } from '../kernel/redact.ts';
import type { TokenFacts } from './exchange.ts';
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
