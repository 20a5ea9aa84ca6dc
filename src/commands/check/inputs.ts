import { compactVerify, createLocalJWKSet } from 'jose';
import { readTrusted } from '../../config/target.ts';
import type { CheckOptions } from '../../conformance/check.ts';
import { readText } from '../../files/read-text.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { isSafeTransport } from '../../protocol/loopback.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { serviceRules } from '../../rules/catalogue.ts';
import { sendRequest } from '../../wire/client/http.ts';
import type { ContextOf } from '../command.ts';

/** The files that a check reads at the start: known failures and published keys. */
export async function readInputs(
  context: ContextOf<'check'>,
): Promise<Pick<CheckOptions, 'expected' | 'verify'>> {
  const { expected, jwks } = context.settings;
  return {
    ...(expected === undefined
      ? {}
      : { expected: readExpected(await readText(expected, context), expected) }),
    ...(jwks === undefined ? {} : { verify: readKeySet(await readKeys(jwks, context), jwks) }),
  };
}

/**
 * Rules that are known to fail: one ID per line, followed by the reason. Empty lines and those that begin with `#` are
 * ignored. Throws `bad-input` for an id that no rule has, or one without a reason.
 */
function readExpected(text: string, file: string): Map<string, string> {
  const expected = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const [id = '', ...reason] = line.trim().split(/\s+/);
    if (id === '' || id.startsWith('#')) continue;
    const refuse = (what: string) => new VoicectlError('bad-input', `${file}, line ${index + 1}: ${what}`);
    expected.set(findRule(id, refuse), reason.join(' '));
    if (reason.length === 0) throw refuse(`${id} has no reason`);
  }
  return expected;
}

/** The id of a rule in the form of the catalogue. Throws the error that `refuse` makes. */
export function findRule(id: string, refuse: (what: string) => Error): string {
  const rule = serviceRules.find((one) => one.id.toLowerCase() === id.toLowerCase());
  if (rule === undefined) throw refuse(`there is no rule ${id}; rules are R1 to R${serviceRules.length}`);
  return rule.id;
}

/** The key set in a file or at an address, which is reached as the service is. */
async function readKeys(place: string, context: ContextOf<'check'>): Promise<string> {
  const { settings, io, signal } = context;
  if (!/^https?:\/\//i.test(place)) return readText(place, context);
  if (!settings.allowPlaintext && !isSafeTransport(place)) {
    const { host } = new URL(place);
    throw new VoicectlError('insecure-target', `Refusing to read the keys of ${host} over plain HTTP`, {
      hint: 'Someone on the network could replace them. Use https, a file, or --allow-plaintext if the network is trusted.',
    });
  }
  const request = { method: 'GET', url: place, headers: [], body: '' };
  const ca = await readTrusted(settings.ca, context);
  const { answer, failure } = await sendRequest(request, { clock: io.clock, signal, ca });
  if (failure !== undefined) throw failure;
  if (answer?.status === 200) return answer.body;
  throw new VoicectlError('bad-input', `No key set at ${place}: it answered ${answer?.status}`);
}

/** Reads a JWK Set (RFC 7517). Throws `bad-input` if the text is not one. */
function readKeySet(text: string, name: string): NonNullable<CheckOptions['verify']> {
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
