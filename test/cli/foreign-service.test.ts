import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { FailureKind } from '../../src/kernel/failure-kind.ts';
import { hasForeignService, startForeignService } from '../helpers/foreign-service.ts';
import { runInProcess } from '../helpers/in-process.ts';
import {
  fixture,
  fixturePcm,
  type Json,
  jsonLines,
  type Sandbox,
  sandboxFor,
  summaryOf,
} from '../helpers/voicectl.ts';

const message = /^voicectl: .+\n( {2}.+\n){0,2}$/;
const pcm = fixturePcm('barge-in.wav');
const answer = fixturePcm('answer.wav');
const quick = ['--file', fixture('barge-in.wav'), '--pace', '10', '--settle', '300ms', '--json'];
/** For audio that must be heard to its end: a busy machine echoes late. */
const patient = ['--settle', '1s'];
const key = 'canary-key-77aa';

/** One session with the service: in this process, unless `run` is the real program. */
async function stream(
  sandbox: Sandbox,
  service: readonly string[],
  flags: readonly string[] = [],
  run: Sandbox['run'] | typeof runInProcess = runInProcess,
) {
  const foreign = await startForeignService(sandbox, service);
  const out = ['--out', sandbox.path('o.wav')];
  const at = ['--base-url', foreign.baseUrl, '--device', 'd1'];
  const ended = await run(['stream', ...quick, ...out, ...at, ...flags], { env: { VOICECTL_API_KEY: key } });
  await foreign.stop();
  return {
    ...ended,
    ...foreign,
    summary: ended.stdout.includes('"summary"') ? summaryOf(ended.stdout) : undefined,
    /** The audio in the file of --out. */
    heard: () => readFileSync(sandbox.path('o.wav')).subarray(44),
  };
}

/**
 * Only as much audio as it takes until the service fails: it resets a connection over which more is coming, and
 * with that its own last words are lost.
 */
function shortOf(sandbox: Sandbox, reply: string): string[] {
  if (!reply.startsWith('error-event:') && reply !== 'abnormal') return [];
  const wav = readFileSync(fixture('barge-in.wav')).subarray(0, 44 + 6400);
  return ['--file', sandbox.write('short.wav', wav), '--tail', '0'];
}

describe.runIf(hasForeignService).concurrent('an independent service, without a flag for it', () => {
  // The longest test begins first.
  test('it stops reading: exit 7, and memory does not grow', async (context) => {
    const sandbox = sandboxFor(context);
    const { baseUrl } = await startForeignService(sandbox, ['--reply', 'stall']);
    const running = sandbox.start([
      'stream',
      '--raw',
      '/dev/zero',
      '--pace',
      'max',
      '--base-url',
      baseUrl,
      '--json',
      '--timeout',
      '50s',
    ]);
    await running.line(/"state":"live"/);
    let peak = 0;
    const usage = setInterval(() => {
      // Only Linux reports it here.
      const file = `/proc/${running.child.pid}/status`;
      const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0));
    }, 200);
    sandbox.defer(() => clearInterval(usage));
    running.ended.finally(() => clearInterval(usage));
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringMatching(message) });
    expect(stderr).toContain('The service has read none of');
    expect(peak).toBeLessThan(250_000);
  });

  test.for<[what: string, service: string[]]>([
    ['as the specification shows it', []],
    [
      'with 201 for a token and more in the body, ES256, the kind under kind, odd sizes, the reset in milliseconds',
      ['--token-status', '201', '--alg', 'ES256', '--kind-field', 'kind', '--odd', '--reset', 'milliseconds'],
    ],
    [
      'HS512, the kind under event, the reset in ISO 8601',
      ['--alg', 'HS512', '--kind-field', 'event', '--reset', 'iso'],
    ],
    [
      'tokens signed with an unknown algorithm, the kind under name, the reset as an HTTP date',
      ['--alg', 'X-1', '--kind-field', 'name', '--reset', 'http-date'],
    ],
    ['the reset in seconds from now', ['--reset', 'delta']],
  ])('%s: every sample arrives at both ends', async ([_what, service], context) => {
    const sandbox = sandboxFor(context);
    const before = Date.now();
    const run = service.length === 0 ? sandbox.run : runInProcess;
    const {
      code,
      stderr,
      summary,
      pcm: received,
      recorded,
      stdout,
      heard,
    } = await stream(sandbox, service, patient, run);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(received().subarray(0, pcm.length).equals(pcm)).toBe(true);
    expect(
      received()
        .subarray(pcm.length)
        .every((byte) => byte === 0),
    ).toBe(true);
    // Its echo of our last silence may still be on its way when we close.
    expect(heard().length).toBeGreaterThanOrEqual(pcm.length);
    expect(heard().equals(received().subarray(0, heard().length))).toBe(true);
    expect(heard().length).toBe((summary?.in.bytes ?? 0) - ((summary?.in.bytes ?? 0) % 2));

    const messages = recorded().filter(({ what }) => what === 'message');
    const [token, ...audio] = messages;
    expect(token).toMatchObject({ type: 'text', text: expect.stringMatching(/^eyJ/) });
    expect(new Set(audio.map(({ type, size }) => `${type} ${size}`))).toEqual(new Set(['binary 640']));
    expect(recorded().filter(({ what }) => what === 'end')).toEqual([
      expect.objectContaining({ closeCode: 1000 }),
    ]);
    expect(summary?.events).toEqual({ service_voice_connected: 1 });
    const { resetAtMs } = (summary as unknown as { rateLimit: { resetAtMs: number } }).rateLimit;
    expect(resetAtMs).toBeGreaterThan(before + 55_000);
    expect(resetAtMs).toBeLessThan(Date.now() + 65_000);
    expect(stdout).not.toContain(key);
    expect(stdout).not.toContain(String(token?.text));
  });

  test('it requests a token as the specification shows, with nothing else, and upgrades without the key', async (context) => {
    const sandbox = sandboxFor(context);
    const { recorded } = await stream(sandbox, []);
    const request = recorded().find(({ what }) => what === 'token-request') as Json & {
      headers: [string, string][];
    };
    expect(request).toMatchObject({ method: 'POST', path: '/api/websocket-voice/token', query: '' });
    expect(JSON.parse(String(request.body))).toEqual({ apiKey: key, deviceId: 'd1' });
    const headers = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
    expect(headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' });
    const upgrade = recorded().find(({ what }) => what === 'upgrade');
    expect(upgrade).toMatchObject({ path: '/voice-stream' });
    expect(JSON.stringify(upgrade).toLowerCase()).not.toContain('sec-websocket-extensions');
    expect(JSON.stringify(upgrade)).not.toContain(key);
  });

  test.for<[what: string, pace: string, service: string[]]>([
    ['at once', 'burst', []],
    ['in messages of odd sizes', 'burst', ['--odd']],
  ])('a reply that it speaks %s is heard to its end', async ([_what, pace, service], context) => {
    const sandbox = sandboxFor(context);
    const { code, summary, heard } = await stream(
      sandbox,
      ['--reply', `fixed:${fixture('answer.wav')}`, '--reply-pace', pace, ...service],
      ['--settle', '600ms'],
    );
    expect(code).toBe(0);
    expect(heard().equals(answer)).toBe(true);
    expect(summary?.in.bytes).toBe(answer.length);
    expect(summary?.firstAudioMs).toEqual(expect.any(Number));
  });

  test.for<[what: string, error: string, exitCode: number, kind: FailureKind, why: string]>([
    ['no body', '401:empty', 3, 'token-refused', '401'],
    ['a web page', '403:html', 3, 'token-refused', '403'],
    ['a body of another shape', '400:other', 3, 'token-refused', '400'],
    ['the specification’s body', '401:spec', 3, 'token-refused', 'UNAUTHORIZED: The foreign service refused'],
    ['an error of its own', '503:spec', 3, 'token-refused', '503'],
    ['a rate limit', '429:spec:0', 5, 'rate-limited', 'RATE_LIMITED: The foreign service refused this'],
  ])('it refuses the key with %s (%s): exit %i, %s, and why', async (row, context) => {
    const [_what, error, exitCode, kind, why] = row;
    const sandbox = sandboxFor(context);
    const { code, stderr, stdout, recorded } = await stream(
      sandbox,
      ['--token-error', error],
      ['--retries', '0'],
    );
    expect({ code, stderr }).toEqual({ code: exitCode, stderr: expect.stringMatching(message) });
    expect(stderr).toContain(why);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ type: 'error', kind, exitCode });
    expect(recorded().filter(({ what }) => what === 'token-request')).toHaveLength(1);
    expect(recorded().filter(({ what }) => what === 'upgrade')).toHaveLength(0);
  });

  test.for<[what: string, reply: string, exitCode: number, kind: FailureKind, why: string]>([
    ['closes with 4401 at the token', 'reject-token', 3, 'stream-refused', '4401'],
    ['closes with 1008 and a reason', 'reject-token:1008:not today', 3, 'stream-refused', 'not today'],
    ['closes with 1011 at the token', 'reject-token:1011', 6, 'stream-broken', '1011'],
    ['closes without a code', 'reject-token:1005', 3, 'stream-refused', '1005'],
    ['cuts the connection at the token', 'reject-token:1006', 6, 'stream-broken', ''],
    ['closes with 4429', 'reject-token:4429:too many', 5, 'too-many-connections', 'too many'],
    ['answers the upgrade with 401', 'upgrade-status:401', 3, 'stream-refused', '401'],
    ['answers the upgrade with 429', 'upgrade-status:429', 5, 'too-many-connections', '429'],
    ['answers the upgrade with 503', 'upgrade-status:503', 4, 'handshake', '503'],
    ['answers the upgrade with a redirect', 'upgrade-status:302', 6, 'redirected', '302'],
    ['redirects the token request', 'redirect:307', 6, 'redirected', '307'],
    ['fails, and closes with 1011', 'error-event:1011', 6, 'service-error', 'The foreign service is unwell.'],
    ['cuts the connection in the middle of a frame', 'abnormal', 6, 'protocol', ''],
  ])('it %s (%s): exit %i, %s', async ([_what, reply, exitCode, kind, why], context) => {
    const sandbox = sandboxFor(context);
    const { code, stderr, stdout, recorded } = await stream(
      sandbox,
      ['--reply', reply],
      shortOf(sandbox, reply),
    );
    expect({ code, stderr }).toEqual({ code: exitCode, stderr: expect.stringMatching(message) });
    expect(stderr).toContain(why);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ type: 'error', kind, exitCode });
    expect(jsonLines(stdout).at(-2)).toMatchObject({ type: 'summary', failure: { kind, exitCode } });
    expect(recorded().filter(({ what }) => what === 'stray-request')).toEqual([]);
    // Everything received before the break is in a valid file.
    const wav = readFileSync(sandbox.path('o.wav'));
    expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
  });

  test('it sends errors of three shapes and goes on, and so does the stream', async (context) => {
    const sandbox = sandboxFor(context);
    const { code, stdout, summary, heard } = await stream(sandbox, ['--reply', 'error-event']);
    expect(code).toBe(0);
    expect(summary?.events).toEqual({ service_voice_connected: 1, error: 3 });
    expect(jsonLines(stdout).filter(({ category }) => category === 'error')).toHaveLength(3);
    expect(heard().subarray(0, pcm.length).equals(pcm)).toBe(true);
  });

  test.for<[what: string, reply: string, flags: string[], kind: FailureKind]>([
    ['says nothing', 'none', ['--wait', '1s', '--expect-audible', '900ms'], 'too-little-audio'],
    ['sends errors', 'error-event', ['--forbid-event', 'error'], 'forbidden-event'],
  ])('it %s (%s) with %j: exit 1, %s', async ([_what, reply, flags, kind], context) => {
    const { code, stdout } = await stream(sandboxFor(context), ['--reply', reply], flags);
    expect(code).toBe(1);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ type: 'error', kind, exitCode: 1 });
  });

  test('--expect-close makes its close the expected end', async (context) => {
    const sandbox = sandboxFor(context);
    const reply = 'error-event:1011';
    const { code } = await stream(
      sandbox,
      ['--reply', reply],
      ['--expect-close', '1011', ...shortOf(sandbox, reply)],
    );
    expect(code).toBe(0);
  });
});
