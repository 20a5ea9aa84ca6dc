import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPcm } from '../../../src/audio/wav/wav-source.ts';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { type FaultName, faultNames } from '../../../src/protocol/faults.ts';
import { tokenPath } from '../../../src/protocol/paths.ts';
import { readFault } from '../../../src/protocol/read-fault.ts';
import { hasForeignClient, runForeignClient } from '../../helpers/foreign-client.ts';
import { fixture } from '../../helpers/voicectl.ts';

/** A folder that is removed at the end of the block. */
async function makeFolder() {
  const path = await mkdtemp(join(tmpdir(), 'voicectl-faults-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl)
  console.warn('NOT CHECKED: curl is missing; the faults of the token endpoint are not looked at');

interface Answer {
  status: number;
  error: string;
  body: string;
  headers: string;
  ms: number;
}

/** What curl sees of one token request, if it comes within this time. */
async function curl(baseUrl: string, { withinSeconds }: { withinSeconds: number }): Promise<Answer> {
  const body = JSON.stringify({ apiKey: 'key', deviceId: 'd1' });
  const args = [
    '-sS',
    '-i',
    '--max-time',
    String(withinSeconds),
    '-H',
    'Content-Type: application/json',
    '-d',
    body,
  ];
  const startedAt = performance.now();
  return new Promise((resolve) => {
    execFile('curl', [...args, baseUrl + tokenPath()], { maxBuffer: 4e6 }, (_, stdout, stderr) => {
      const [head = '', ...rest] = stdout.split('\r\n\r\n');
      resolve({
        status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1] ?? 0),
        headers: head,
        body: rest.join('\r\n\r\n'),
        error: stderr.trim(),
        ms: performance.now() - startedAt,
      });
    });
  });
}

/** The report of the foreign client, with what it heard. */
// biome-ignore lint/suspicious/noExplicitAny: the report of a foreign program
type Report = any;

interface Case {
  fault: string;
  /** Looks at the answer of the token endpoint, with curl. */
  token?: (answer: Answer) => void;
  /** Looks at a session of the python client. */
  stream?: (stream: Report, heard: Buffer, report: Report) => void;
  args?: string[];
  /** What is sent in place of the clip. */
  sent?: Buffer;
  /** Who answers. Default: an echo. */
  service?: Pick<EmulatorOptions, 'reply' | 'dialect'>;
  /** What is heard of the clip in the end. */
  bytes?: number;
}

const said = await loadPcm(fixture('hello.wav'));
const [answer, word, cough] = (await Promise.all(
  ['answer', 'barge-in', 'cough'].map((name) => loadPcm(fixture(`${name}.wav`))),
)) as [Buffer, Buffer, Buffer];
const pause = (ms: number) => Buffer.alloc(32 * ms);
/** A service that answers each turn with a sound, and what interrupts its first answer. */
const interrupted = {
  args: ['--pace', 'realtime'],
  sent: Buffer.concat([word, pause(1_500), word, pause(5_500)]),
  service: { reply: `file:${fixture('answer.wav')}` },
};
/** Vitest compares them byte by byte, which takes a third of a second. */
const expectSound = (heard: Buffer, wanted: Buffer) =>
  expect({ bytes: heard.length, isSame: heard.equals(wanted) }).toEqual({
    bytes: wanted.length,
    isSame: true,
  });
const errorCode = (code: string) => `"code":"${code}"`;
const refused = (code: number) => (stream: Report) =>
  expect(stream).toMatchObject({ handshakeStatus: 101, connected: false, closeCode: code });
const texts = (stream: Report): string =>
  stream.messages.map(({ text }: { text: string }) => text).join('\n');
const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const hasMalformed = (stream: Report) => stream.messages.some(({ text }: { text: string }) => !isJson(text));
const gaps = (stream: Report): number[] =>
  stream.audio.slice(1).map(({ ms }: { ms: number }, index: number) => ms - stream.audio[index].ms);
const peak = (pcm: Buffer) =>
  Math.max(...Array.from({ length: pcm.length / 2 }, (_, at) => Math.abs(pcm.readInt16LE(2 * at))));

/** Where what is heard is not what was said, in samples. */
const changedPlaces = (heard: Buffer) =>
  Array.from({ length: Math.min(heard.length, said.length) / 2 }, (_, at) => at).filter(
    (at) => heard.readInt16LE(2 * at) !== said.readInt16LE(2 * at),
  );
/** Mean step between neighbours, against the mean size. */
const roughness = (pcm: Buffer) => {
  let [steps, sizes] = [0, 0];
  for (let at = 2; at < pcm.length; at += 2) {
    steps += Math.abs(pcm.readInt16LE(at) - pcm.readInt16LE(at - 2));
    sizes += Math.abs(pcm.readInt16LE(at));
  }
  return steps / sizes;
};

/** Each fault of the catalogue, and what a client that knows nothing of voicectl sees of it. */
const table: Record<FaultName, Case> = {
  network: {
    fault: 'network:latency=150ms',
    // Three round trips: TCP, the request, and nothing else before its answer.
    token: ({ status, ms }) => {
      expect(status).toBe(200);
      expect(ms).toBeGreaterThanOrEqual(600);
    },
    // Two connections of two round trips and half a one, and the token with its confirmation.
    stream: (stream, heard) => {
      expect(stream.connectedMs).toBeGreaterThanOrEqual(900);
      expectSound(heard, said);
    },
  },
  'token-error': {
    fault: 'token-error:status=502,code=BROKEN',
    token: ({ status, body }) => {
      expect(status).toBe(502);
      expect(body).toContain(errorCode('BROKEN'));
    },
  },
  'token-unauthorized': { fault: 'token-unauthorized', token: ({ status }) => expect(status).toBe(401) },
  'token-unavailable': { fault: 'token-unavailable', token: ({ status }) => expect(status).toBe(503) },
  'rate-limited': {
    fault: 'rate-limited:reset=7s',
    token: ({ status, headers }) => {
      expect(status).toBe(429);
      expect(headers).toMatch(/^Retry-After: 7\r?$/m);
      expect(headers).toMatch(/^X-RateLimit-Remaining: 0\r?$/m);
    },
  },
  'token-slow': {
    fault: 'token-slow:delay=300ms',
    token: ({ status, ms }) => {
      expect(status).toBe(200);
      expect(ms).toBeGreaterThanOrEqual(300);
    },
  },
  'token-hang': { fault: 'token-hang', token: ({ error }) => expect(error).toMatch(/timed out/) },
  'token-reset': { fault: 'token-reset', token: ({ error }) => expect(error).toMatch(/reset by peer/) },
  'token-redirect': {
    fault: 'token-redirect:location=/elsewhere',
    token: ({ status, headers }) => {
      expect(status).toBe(307);
      expect(headers).toMatch(/^Location: \/elsewhere\r?$/m);
    },
  },
  'token-truncated': {
    fault: 'token-truncated',
    token: ({ status, body }) => {
      expect(status).toBe(200);
      expect(body).toMatch(/^\{"token":"ey/);
      expect(isJson(body)).toBe(false);
    },
  },
  'token-html': {
    fault: 'token-html',
    token: ({ status, headers, body }) => {
      expect(status).toBe(200);
      expect(headers).toMatch(/^Content-Type: text\/html\r?$/m);
      expect(body).toContain('<h1>');
    },
  },
  'token-missing': { fault: 'token-missing', token: ({ body }) => expect(body).toBe('{}') },
  'token-huge': {
    fault: 'token-huge',
    token: ({ body }) => expect(JSON.parse(body).token).toHaveLength(2 ** 20),
  },
  'token-gibberish': {
    fault: 'token-gibberish',
    token: ({ body }) => expect(JSON.parse(body).token.split('.')).toHaveLength(1),
  },
  'token-expired': { fault: 'token-expired', stream: refused(4401) },
  'token-future': { fault: 'token-future', stream: refused(4401) },
  'token-other-audience': {
    fault: 'token-other-audience',
    stream: (stream, _, { token }) => {
      refused(4401)(stream);
      expect(token.claims.aud).not.toBe('voice-api');
    },
  },
  'token-other-issuer': { fault: 'token-other-issuer', stream: refused(4401) },
  'token-bad-signature': { fault: 'token-bad-signature', stream: refused(4401) },
  'upgrade-refused': {
    fault: 'upgrade-refused:status=502',
    stream: (stream) => expect(stream.handshakeStatus).toBe(502),
  },
  'upgrade-slow': {
    fault: 'upgrade-slow:delay=400ms',
    stream: (stream) => {
      expect(stream.connected).toBe(true);
      expect(stream.connectedMs).toBeGreaterThanOrEqual(400);
    },
  },
  'upgrade-hang': {
    fault: 'upgrade-hang',
    args: ['--timeout', '1'],
    stream: (stream) => expect(stream).toMatchObject({ handshakeStatus: null, error: /Timeout/ }),
  },
  'upgrade-reset': {
    fault: 'upgrade-reset',
    stream: (stream) =>
      expect(stream).toMatchObject({ handshakeStatus: null, error: /reset|InvalidMessage/i }),
  },
  'auth-refused': {
    fault: 'auth-refused:cause=tokenExpired',
    stream: (stream) => {
      refused(4401)(stream);
      expect(texts(stream)).toContain('TOKEN_EXPIRED');
    },
  },
  'connection-limit': { fault: 'connection-limit', stream: refused(4429) },
  'connected-late': {
    fault: 'connected-late:delay=400ms',
    stream: (stream) => {
      expect(stream.connected).toBe(true);
      expect(stream.connectedMs).toBeGreaterThanOrEqual(400);
    },
  },
  'connected-missing': {
    fault: 'connected-missing',
    args: ['--timeout', '1'],
    stream: (stream) =>
      expect(stream).toMatchObject({ handshakeStatus: 101, connected: false, closedBy: 'client' }),
  },
  'connected-malformed': {
    fault: 'connected-malformed',
    args: ['--timeout', '1'],
    stream: (stream) => {
      expect(stream.connected).toBe(false);
      expect(hasMalformed(stream)).toBe(true);
    },
  },
  'connected-unknown': {
    fault: 'connected-unknown:kind=hello_there',
    args: ['--timeout', '1'],
    stream: (stream) => {
      expect(stream.connected).toBe(false);
      expect(texts(stream)).toContain('hello_there');
    },
  },
  'message-malformed': {
    fault: 'message-malformed',
    stream: (stream, heard) => {
      expect(hasMalformed(stream)).toBe(true);
      expectSound(heard, said);
    },
  },
  'message-unknown': {
    fault: 'message-unknown:kind=what_is_this',
    stream: (stream) => expect(texts(stream)).toContain('what_is_this'),
  },
  'message-error': {
    fault: 'message-error:code=OOPS',
    stream: (stream, heard) => {
      expect(texts(stream)).toContain(errorCode('OOPS'));
      expectSound(heard, said);
    },
  },
  close: {
    fault: 'close:code=1012,reason=restart',
    stream: (stream) =>
      expect(stream).toMatchObject({ closeCode: 1012, closeReason: 'restart', closedBy: 'service' }),
  },
  'abnormal-close': {
    fault: 'abnormal-close',
    stream: (stream) => expect(stream).toMatchObject({ closeCode: 1006, closedBy: 'service' }),
  },
  reset: {
    fault: 'reset',
    stream: (stream) => expect(stream).toMatchObject({ closeCode: 1006, closedBy: 'service' }),
  },
  'half-open': {
    fault: 'half-open',
    args: ['--mode', 'ping', '--hold', '1'],
    stream: (stream) => expect(stream).toMatchObject({ connected: true, pong: false }),
  },
  stall: {
    fault: 'stall:for=500ms',
    stream: (stream, heard) => {
      expect(stream.audio[0].ms - stream.connectedMs).toBeGreaterThan(400);
      expectSound(heard, said);
    },
  },
  deaf: {
    fault: 'deaf',
    args: ['--mode', 'big', '16777216', '--no-compression'],
    stream: (stream) => expect(stream.error).toMatch(/took nothing/),
  },
  mute: { fault: 'mute', stream: (stream) => expect(stream.audio).toEqual([]) },
  drop: {
    fault: 'drop:times=3',
    bytes: said.length - 3 * 640,
    stream: (_, heard) => expectSound(heard, said.subarray(3 * 640)),
  },
  duplicate: {
    fault: 'duplicate:times=1',
    bytes: said.length + 640,
    stream: (_, heard) => expectSound(heard, Buffer.concat([said.subarray(0, 640), said])),
  },
  'odd-split': {
    fault: 'odd-split',
    stream: (stream, heard) => {
      expect(stream.audio.every(({ bytes }: { bytes: number }) => bytes % 2 === 1)).toBe(true);
      expectSound(heard, said);
    },
  },
  burst: {
    fault: 'burst:every=400ms',
    args: ['--pace', 'realtime'],
    stream: (stream, heard) => {
      expect(gaps(stream).filter((ms) => ms < 10).length).toBeGreaterThan(stream.audio.length / 2);
      expectSound(heard, said);
    },
  },
  drip: {
    fault: 'drip:factor=0.5',
    stream: (stream, heard) => {
      const [first, last] = [stream.audio[0], stream.audio.at(-1)];
      expect(last.ms - first.ms).toBeGreaterThan(1.8 * (said.length / 32));
      expectSound(heard, said);
    },
  },
  clipped: {
    fault: 'clipped',
    stream: (_, heard) => {
      expect(peak(said)).toBeLessThan(0x7fff);
      expect(peak(heard)).toBeGreaterThanOrEqual(0x7fff);
    },
  },
  silent: { fault: 'silent', stream: (_, heard) => expectSound(heard, Buffer.alloc(said.length)) },
  'wrong-rate': {
    fault: 'wrong-rate:rate=24000',
    bytes: (said.length * 3) / 2,
    stream: (_, heard) => expect(heard.length).toBe((said.length * 3) / 2),
  },
  clicks: {
    fault: 'clicks:every=200ms,db=-6',
    stream: (_, heard) => {
      const steps = changedPlaces(heard);
      expect(steps[0]).toBe(3_200);
      expect(steps.every((place) => place % 3_200 <= 32)).toBe(true);
    },
  },
  dropouts: {
    fault: 'dropouts:every=200ms,for=10ms',
    stream: (_, heard) => {
      const changed = changedPlaces(heard);
      expect(changed.length).toBeGreaterThan(100);
      expect(changed.filter((place) => place % 3_200 >= 160 || heard.readInt16LE(2 * place) !== 0)).toEqual(
        [],
      );
    },
  },
  'cut-off': {
    fault: 'cut-off:after=300ms',
    bytes: 0,
    stream: (_, heard) => {
      expect(heard.length).toBeGreaterThan(9_600);
      expect(heard.length).toBeLessThan(said.length);
      expectSound(heard, said.subarray(0, heard.length));
    },
  },
  hum: {
    fault: 'hum:hz=50,db=-20',
    stream: (_, heard) => {
      const added = Array.from(
        { length: 3_200 },
        (_, at) => heard.readInt16LE(2 * at) - said.readInt16LE(2 * at),
      );
      const rms = Math.sqrt(added.reduce((sum, sample) => sum + sample * sample, 0) / added.length);
      expect(20 * Math.log10(rms / 0x8000)).toBeCloseTo(-20, 0);
    },
  },
  'narrow-band': {
    fault: 'narrow-band:hz=1000',
    stream: (_, heard) => expect(roughness(heard)).toBeLessThan(roughness(said) / 1.5),
  },
  level: {
    fault: 'level:db=-20',
    stream: (_, heard) => expect(peak(heard)).toBeCloseTo(peak(said) / 10, -1),
  },
  format: {
    fault: 'format:as=stereo',
    bytes: 2 * said.length,
    stream: (_, heard) => {
      const [left, right] = [heard.subarray(0, -2), heard.subarray(2)].map((samples) =>
        Array.from({ length: heard.length / 4 }, (_, pair) => samples.readInt16LE(4 * pair)),
      );
      expect(left).toEqual(right);
    },
  },
  'user-echo': {
    fault: 'user-echo:delay=200ms,db=-6',
    args: ['--pace', 'realtime'],
    stream: (_, heard) => {
      const added = Buffer.alloc(Math.min(heard.length, said.length));
      for (let at = 0; at < added.length; at += 2)
        added.writeInt16LE(
          Math.max(-0x8000, Math.min(0x7fff, heard.readInt16LE(at) - said.readInt16LE(at))),
          at,
        );
      expect(peak(added) / peak(said)).toBeGreaterThan(0.3);
    },
  },
  'false-interruption': {
    fault: 'false-interruption',
    args: ['--pace', 'realtime'],
    bytes: 0,
    stream: (_, heard) => {
      expect(heard.length).toBeLessThan(said.length / 2);
      expectSound(heard, said.subarray(0, heard.length));
    },
  },
  'slow-yield': {
    ...interrupted,
    fault: 'slow-yield:by=500ms',
    args: [...interrupted.args, '--quiet', '3'],
    bytes: 2 * answer.length,
    // It is interrupted a second into its answer, and half a second later it says it again.
    stream: (_, heard) => {
      const firstMs = (heard.length - answer.length) / 32;
      expect(firstMs).toBeGreaterThan(1_200);
      expect(firstMs).toBeLessThan(answer.length / 32 - 200);
      expectSound(heard.subarray(heard.length - answer.length), answer);
    },
  },
  'never-yields': {
    ...interrupted,
    fault: 'never-yields',
    bytes: 2 * answer.length,
    stream: (_, heard) => expectSound(heard, Buffer.concat([answer, answer])),
  },
  'reply-lost': {
    fault: 'reply-lost',
    args: ['--pace', 'realtime'],
    sent: Buffer.concat([word, pause(250), cough, pause(1_500)]),
    service: { reply: `file:${fixture('answer.wav')}`, dialect: { stream: { shortestTurnMs: 500 } } },
    stream: (stream) => expect(stream.audio).toEqual([]),
  },
  'early-reply': {
    fault: 'early-reply:after=400ms',
    args: ['--pace', 'realtime'],
    service: { reply: 'parrot' },
    bytes: 0,
    stream: (_, heard) => {
      expect(heard.length).toBeGreaterThan(32 * 300);
      expect(heard.length).toBeLessThan(said.length / 2);
    },
  },
  'answers-noise': {
    fault: 'answers-noise',
    args: ['--pace', 'realtime'],
    sent: Buffer.concat([word, pause(2_500), cough, pause(2_400)]),
    service: { reply: `file:${fixture('barge-in.wav')}`, dialect: { stream: { shortestTurnMs: 500 } } },
    bytes: 2 * word.length,
    stream: (_, heard) => expectSound(heard, Buffer.concat([word, word])),
  },
  'swapped-bytes': {
    fault: 'swapped-bytes',
    stream: (_, heard) => expectSound(heard, Buffer.from(said).swap16()),
  },
};

const cases = faultNames.map((name) => ({ name, ...table[name] }));

describe.concurrent('a foreign client sees the fault', () => {
  test.skipIf(!hasCurl).for(cases.filter(({ token }) => token !== undefined))(
    '$fault with curl',
    async ({ fault, token }) => {
      await using emulator = await createEmulator({ faults: [readFault(fault)] });
      // Only an answer that never comes is given up early.
      const withinSeconds = fault === 'token-hang' ? 1.5 : 30;
      token?.(await curl(emulator.baseUrl, { withinSeconds }));
    },
  );

  test.skipIf(!hasForeignClient).for(cases.filter(({ stream }) => stream !== undefined))(
    '$fault on the stream',
    async ({ fault, args = [], sent = said, service, bytes = said.length, stream }) => {
      await using emulator = await createEmulator({ reply: 'echo', ...service, faults: [readFault(fault)] });
      await using folder = await makeFolder();
      const out = join(folder.path, 'heard.raw');
      const file = join(folder.path, 'sent.raw');
      await writeFile(file, sent);
      const patience = ['--wait', '3', '--quiet', '5', '--timeout', '10', '--until-bytes', String(bytes)];
      const all = [...patience, '--file', file, '--out', out, ...args];
      const report = await runForeignClient(emulator.baseUrl, all);
      const heard = await readFile(out).catch(() => Buffer.alloc(0));
      stream?.(report.stream, heard, report);
    },
  );
});
