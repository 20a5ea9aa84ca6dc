import { describe, expect, test } from 'vitest';
import { hastyClock } from '../helpers/hasten.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { fixture, jsonLines, only, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/** Runs `stream` with a service that says this once audio arrives. */
async function streamWith(message: object, flags: readonly string[]) {
  let hasSaid = false;
  await using service = await startMiniService({
    onAudio({ say, socket }, pcm) {
      if (!hasSaid) say(message);
      hasSaid = true;
      socket.send(pcm);
    },
  });
  const args = ['stream', '--base-url', service.baseUrl, '--settle', '200ms', '--json', ...flags];
  const { code, stdout } = await runInProcess(args, {
    clock: hastyClock,
    env: { VOICECTL_API_KEY: 'a-key-for-tests' },
  });
  return { code, summary: only(jsonLines(stdout), 'summary'), lines: jsonLines(stdout) };
}

const said = ['--file', fixture('barge-in.wav'), '--pace', 'max', '--tail', '0'];

describe.each([
  ['in the shape of the specification, without a kind', { error: { code: 'OVERLOAD', message: 'busy' } }],
  ['under a kind of its own', { type: 'message', error: { code: 'OVERLOAD', message: 'busy' } }],
  ['in an envelope', { type: 'event', event: 'error', code: 'OVERLOAD', message: 'busy' }],
])('an error of a service %s', (_what, message) => {
  test('is forbidden by --forbid-event error', async () => {
    const { code, lines } = await streamWith(message, [...said, '--forbid-event', 'error']);
    expect(code).toBe(1);
    expect(lines.at(-1)).toMatchObject({ type: 'error', kind: 'forbidden-event' });
  });

  test('is expected by --expect-event error', async () => {
    const { code, summary } = await streamWith(message, [...said, '--expect-event', 'error']);
    expect(summary.verdicts).toMatchObject([{ name: 'expect-event', ok: true, measured: 'once' }]);
    expect(code).toBe(0);
  });

  test('is the event `error` of a conversation', async () => {
    const turns = (rule: string) =>
      sandbox.write(
        'turns.yaml',
        `turns:\n  - say: ${fixture('barge-in.wav')}\n    ${rule}:\n      - event: error\n`,
      );
    const forbidden = await streamWith(message, ['--expect-file', turns('absent')]);
    expect(forbidden.lines.at(-1)).toMatchObject({ type: 'error', kind: 'forbidden-event' });
    const expected = await streamWith(message, ['--expect-file', turns('expect')]);
    expect(expected.code).toBe(0);
  });
});

test('messages are named by the field that named the confirmation', async () => {
  let isSaid = false;
  await using service = await startMiniService({
    connected: ({ say }) => say({ op: 'service_voice_connected' }),
    onAudio({ say, socket }, pcm) {
      if (!isSaid) say({ op: 'fault', code: 'QUOTA', message: 'out' });
      isSaid = true;
      socket.send(pcm);
    },
  });
  const flags = [...said, '--settle', '200ms', '--forbid-event', 'fault', '--json'];
  const { code, stdout } = await runInProcess(['stream', '--base-url', service.baseUrl, ...flags], {
    clock: hastyClock,
    env: { VOICECTL_API_KEY: 'a-key-for-tests' },
  });
  expect(only(jsonLines(stdout), 'summary').events).toMatchObject({ fault: 1 });
  expect(code).toBe(1);
});

const [head, tail] = ['eyJhbGciOiJIUzI1NiJ9.eyJz', 'dWIiOiJsYW1wIn0.c2lnbmF0dXJl'];

test.each([
  ['a key', ['your key is a-key-', 'for-tests'], 'a-key-for-tests'],
  ['a token that nobody has granted', [`your key is ${head}`, tail], head + tail],
])('%s that a transcript tells in pieces is not joined', async (_what, pieces, secret) => {
  let isSaid = false;
  await using service = await startMiniService({
    onAudio({ say, socket }, pcm) {
      for (const delta of isSaid ? [] : pieces) say({ type: 'transcript.delta', delta });
      isSaid = true;
      socket.send(pcm);
    },
  });
  const flags = [...said, '--settle', '200ms', '--record', sandbox.path('kept')];
  const { code, stdout } = await runInProcess(['stream', '--base-url', service.baseUrl, ...flags], {
    clock: hastyClock,
    env: { VOICECTL_API_KEY: 'a-key-for-tests' },
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining(secret) });
  expect(sandbox.read('kept/summary.json')).toContain('your key is [redacted]');
});

test('an error instead of the confirmation, on a stream that stays open, is a refusal with its words', async () => {
  await using service = await startMiniService({
    connected: ({ say }) => say({ error: { code: 'BAD_TOKEN', message: 'no such token' } }),
  });
  const { code, stderr } = await runInProcess(['stream', '--base-url', service.baseUrl, ...said], {
    clock: hastyClock,
    env: { VOICECTL_API_KEY: 'a-key-for-tests' },
  });
  expect(code).toBe(3);
  expect(stderr).toContain('The stream refused the token: BAD_TOKEN: no such token');
});
