import { compactVerify, createLocalJWKSet } from 'jose';
import { VoicectlError } from '../kernel/errors.ts';
import { isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import type { Seen } from '../rules/rule.ts';

/** Verifies a token with published keys. */
export type Verify = (token: string) => Promise<NonNullable<Seen['signature']>>;

/** Reads a JWK Set (RFC 7517). Throws `bad-input` if the text is not one. */
export function readKeySet(text: string, name: string): Verify {
  const keys = createSet(text, name);
  return async (token) => {
    try {
      await compactVerify(token, keys);
      return 'valid';
    } catch (thrown) {
      return { refused: (thrown as Error).message };
    }
  };
}

function createSet(text: string, name: string) {
  const refuse = (why: string) => new VoicectlError('bad-input', `No key set in ${name}: ${why}`);
  // Never an excerpt, as errors of a parser have: it may be a private key.
  const set = parseJson(text);
  if (set === undefined) throw refuse('it is not JSON');
  if (!isRecord(set) || !Array.isArray(set.keys) || set.keys.length === 0)
    throw refuse('it contains no keys');
  try {
    return createLocalJWKSet({ keys: set.keys });
  } catch {
    throw refuse('its keys are not JSON Web Keys');
  }
}
