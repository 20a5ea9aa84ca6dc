import type { CheckOptions } from '../../conformance/check.ts';
import { readExpected } from '../../conformance/expected.ts';
import { readKeySet } from '../../conformance/jwks.ts';
import { readText, type Stdin } from '../../files/read-text.ts';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { sendRequest } from '../../wire/client/http.ts';
import { readSpeech } from '../conformance/speech.ts';
import type { CheckContext } from './context.ts';

/** What a check reads at the start: the audio to say, known failures and published keys. */
export async function readInputs({
  settings,
  io,
  signal,
}: CheckContext): Promise<Pick<CheckOptions, 'speech' | 'expected' | 'verify'>> {
  const input = { stdin: io.stdin, signal };
  const { expected, jwks } = settings;
  return {
    speech: await readSpeech(),
    ...(expected === undefined ? {} : { expected: readExpected(await readText(expected, input), expected) }),
    ...(jwks === undefined ? {} : { verify: readKeySet(await readKeys(jwks, input, io.clock), jwks) }),
  };
}

async function readKeys(place: string, input: Stdin, clock: Clock): Promise<string> {
  if (!/^https?:\/\//i.test(place)) return readText(place, input);
  const request = { method: 'GET', url: place, headers: [], body: '' };
  const { answer, failure } = await sendRequest(request, { clock, signal: input.signal });
  if (failure !== undefined) throw failure;
  if (answer?.status === 200) return answer.body;
  throw new VoicectlError('bad-input', `No key set at ${place}: it answered ${answer?.status}`);
}
