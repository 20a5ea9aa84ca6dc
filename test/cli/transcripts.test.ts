import { beforeAll, describe, expect, test } from 'vitest';
import { hastyClock } from '../helpers/hasten.ts';
import { startTranscriptService, type Transcript, transcripts } from '../helpers/transcript-service.ts';
import {
  type Ended,
  fixture,
  type Json,
  jsonLines,
  only,
  setUpSandbox,
  summaryOf,
} from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const key = 'canary-key-3b1f9e';

interface Outcome {
  json: Ended;
  tokens: readonly string[];
  requests: readonly string[];
}

const outcomes = new Map<string, Outcome>();

/** Runs a session with the transcript's service. */
async function stream(transcript: Transcript): Promise<Outcome> {
  const service = await startTranscriptService(transcript, hastyClock);
  const version = /\/api\/(v\d+)\//.exec(transcript.http.request.path)?.[1];
  // Long enough for the pause between the two replies of the only session that has two.
  const settle = transcript.name === 'session-two-replies' ? '700ms' : '200ms';
  const flags = ['--pace', 'max', '--wait', '300ms', '--settle', settle, '--tail', '0', '--retries', '0'];
  const target = ['--base-url', service.baseUrl, '--device', 'fixture-device'];
  if (version !== undefined) target.push('--api-version', version);
  try {
    const json = await sandbox.runHere(
      ['stream', '--file', fixture('barge-in.wav'), '--json', ...flags, ...target],
      { clock: hastyClock, env: { VOICECTL_API_KEY: key } },
    );
    return { json, tokens: service.tokens, requests: service.requests };
  } finally {
    await service.close();
  }
}

/** Four at a time: they mostly wait. */
beforeAll(async () => {
  const queue = [...transcripts];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      outcomes.set(next.name, await stream(next.transcript));
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
});

/** A test of what a transcript expects; no test if it expects nothing of the kind. */
const testWhere = (isExpected: boolean) => (isExpected ? test : () => {});

describe.each(transcripts)('$name', ({ name, transcript: { http, stream, expect: expected } }) => {
  const outcome = () => outcomes.get(name) as Outcome;
  const lines = () => jsonLines(outcome().json.stdout);

  test(`stream ends with ${expected.exitCode}, and reports it in its last line`, () => {
    const { json } = outcome();
    expect({ code: json.code, stderr: json.stderr }).toEqual({
      code: expected.exitCode,
      stderr: expected.exitCode === 0 ? '' : expect.stringMatching(/^voicectl: .+\n( {2}.+\n){0,2}$/),
    });
    const last = lines().at(-1);
    if (expected.exitCode === 0) expect(last?.type).toBe('summary');
    else expect(last).toMatchObject({ type: 'error', exitCode: expected.exitCode });
  });

  test('every kind of message and every byte of audio is reported', () => {
    const messages = lines().filter(({ type }) => type === 'message');
    expect(messages.map(({ kind }) => kind).filter((kind) => kind !== undefined)).toEqual(expected.kinds);
    const counted = Object.entries(summaryOf(outcome().json.stdout).events).filter(
      ([kind]) => kind !== '(none)',
    );
    expect(counted.flatMap(([kind, count]) => Array(count).fill(kind)).sort()).toEqual(
      [...expected.kinds].sort(),
    );
    expect(summaryOf(outcome().json.stdout).in.bytes).toBe(expected.audioBytesIn);
  });

  test('the token is sent to the stream once, and neither it nor the key is shown', () => {
    const { json, tokens, requests } = outcome();
    const token = stream.find(({ from, type }) => from === 'client' && type === 'text')?.text;
    expect(tokens).toEqual(token === undefined ? [] : [token]);
    expect(requests.map((body) => JSON.parse(body))).toEqual([{ apiKey: key, deviceId: 'fixture-device' }]);
    for (const secret of [key, token ?? key]) {
      expect(json.stdout).not.toContain(secret);
      expect(json.stderr).not.toContain(secret);
    }
  });

  testWhere(expected.errorCode !== undefined)('the service’s error code is told', () => {
    const shown = JSON.stringify(lines().filter(({ type }) => type === 'message' || type === 'error'));
    expect(shown).toContain(JSON.stringify(expected.errorCode).slice(1, -1));
  });

  testWhere(expected.rateLimit !== undefined && stream.length > 0)('the rate limit is told', () => {
    const { rateLimit } = only(lines(), 'summary') as Json & { rateLimit: Record<string, number> };
    const { limit, remaining, resetInMs } = expected.rateLimit ?? {};
    expect(rateLimit).toMatchObject({
      ...(limit === undefined ? {} : { limit }),
      ...(remaining === undefined ? {} : { remaining }),
    });
    const sentAt = Date.parse(http.response.headers.find(([header]) => header === 'Date')?.[1] ?? '');
    expect(rateLimit.resetAtMs).toBe(resetInMs === undefined ? undefined : sentAt + resetInMs);
  });

  testWhere(expected.shows !== undefined)('what the service said for people is told', () => {
    const { stdout, stderr } = outcome().json;
    for (const text of expected.shows ?? []) expect(stdout + stderr).toContain(text);
  });

  test('no control sequence is printed', () => {
    const { stdout, stderr } = outcome().json;
    for (const text of [...(expected.neverShows ?? []), '\u001b', '\u009b', '\u202e', '\r', '\b', '\u0007'])
      expect(stdout + stderr).not.toContain(text);
  });
});

test('a message nested too deeply to be serialised does not end the program', async () => {
  const known = transcripts.find(({ name }) => name === 'messages-nested-deep')?.transcript as Transcript;
  const deep = `{"type":"status","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const steps = known.stream.map((step) => (step.text?.includes('"deep"') ? { ...step, text: deep } : step));
  const { json } = await stream({ ...known, stream: steps });
  expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 0, stderr: '' });
  expect(jsonLines(json.stdout)).toContainEqual(
    expect.objectContaining({ type: 'message', kind: 'status', body: '(nested too deeply)' }),
  );
});
