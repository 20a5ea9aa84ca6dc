import type { ServerResponse } from 'node:http';
import { hastyClock } from '../helpers/hasten.ts';
import { repliesToTurns, spoken } from '../helpers/mini-replies.ts';
import type { MiniBehaviour, MiniStream } from '../helpers/mini-service.ts';
import { lawful } from '../helpers/mini-service.ts';
import { writeRaw } from '../helpers/write-raw.ts';

type Told = 'fail' | 'warn' | 'observed' | 'unknown';

/** A service that breaks one rule. */
export interface Mutant {
  /** The rule that must not pass. */
  rule: string;
  /** What it does. */
  does: string;
  change: Partial<MiniBehaviour>;
  /** `warn` where the rule is implied, or where the specification leaves room; `observed` where it is silent. */
  verdict?: Told | readonly Told[];
  /** Rules that cannot be told any more, or that are broken with it: nothing can be done about them. */
  also?: readonly string[];
  /** At which it is told. Default: `base`. */
  level?: 'base' | 'standard' | 'exhaust';
  /** Where the run ends early, and with another exit code than the verdict has. */
  exitCode?: number;
  /** How long a reply is waited for, milliseconds. */
  waitMs?: number;
  /**
   * It is told by the same exchanges and in the same way as another mutant of its rule: the tests of the rule have what it
   * answers (test/rules/), and a run against it is for `npm run conformance`.
   */
  isAlike?: true;
}

/** Tokens of the service that changes its issuer. */
let issued = 0;

/** This machine by an address that could be another's. */
export const elsewhere = '0.0.0.0';
const v1 = '/api/v1/websocket-voice/token';
const json = lawful.headers({} as never);

function withClaims(change: object): Partial<MiniBehaviour> {
  return { claims: (claims) => ({ ...claims, ...change }) };
}

function withHeaders(change: Record<string, string>): Partial<MiniBehaviour> {
  return { headers: () => ({ ...json, ...change }) };
}

const isMissing = (fields: Record<string, unknown>, name: string) => !Object.hasOwn(fields, name);

function withAudio(change: (pcm: Buffer) => Buffer): Partial<MiniBehaviour> {
  return { onAudio: ({ socket }, pcm) => socket.send(change(pcm)) };
}

function twice(pcm: Buffer): Buffer {
  const whole = pcm.length - (pcm.length % 2);
  const stereo = Buffer.alloc(2 * whole);
  for (let at = 0; at < whole; at += 2) {
    pcm.copy(stereo, 2 * at, at, at + 2);
    pcm.copy(stereo, 2 * at + 2, at, at + 2);
  }
  return stereo;
}

/** A refusal in the service's own shape. */
function refuse(response: ServerResponse, status: number, code: string): true {
  response.writeHead(status, json).end(JSON.stringify({ error: { code, message: 'no' } }));
  return true;
}

/** Each part of a JWT in another spelling. */
const spelt = (change: (part: string) => string): Partial<MiniBehaviour> => ({
  token: (token) => token.split('.').map(change).join('.'),
});
const padded = (part: string) => part.padEnd(Math.ceil(part.length / 4) * 4, '=');
const plainBase64 = (part: string) => part.replaceAll('-', '+').replaceAll('_', '/');

const evens = (pcm: Buffer) => pcm.subarray(0, pcm.length - (pcm.length % 2));
const cached = new Map<string, string>();
const often = new Map<string, { token: string; count: number }>();
const anyKnown: MiniBehaviour['refusal'] = (token) => (token === undefined ? 'unknown' : undefined);
const begun = new WeakSet<MiniStream>();

/** One line each. */
export const mutants: readonly Mutant[] = [
  { rule: 'R1', does: 'answers 201', change: { status: ({ path }) => (path === v1 ? 200 : 201) } },
  {
    rule: 'R1',
    does: 'has no unversioned path',
    verdict: 'warn',
    change: { intercept: ({ path }, response) => path !== v1 && !!response.writeHead(404).end() },
    also: ['R5', 'R25', 'R26', 'R27', 'R35'],
  },
  {
    rule: 'R2',
    does: 'answers 202 on the v1 path',
    change: { status: ({ path }) => (path === v1 ? 202 : 200) },
  },
  {
    rule: 'R2',
    does: 'refuses the v1 path with 400',
    isAlike: true,
    change: { intercept: ({ path }, response) => path === v1 && refuse(response, 400, 'INVALID_REQUEST') },
  },
  { rule: 'R3', does: 'says it is text', change: withHeaders({ 'Content-Type': 'text/plain' }) },
  { rule: 'R4', does: 'lets the answer be stored', change: withHeaders({ 'Cache-Control': 'no-cache' }) },
  { rule: 'R5', does: 'answers from a cache', change: withHeaders({ Age: '12' }) },
  { rule: 'R6', does: 'calls it jwt', change: { body: (jwt) => ({ jwt }) } },
  {
    rule: 'R7',
    does: 'wants Accept',
    change: {
      intercept: ({ headers }, response) =>
        headers.accept === undefined &&
        !!response.writeHead(406, json).end('{"error":{"code":"NOT_ACCEPTABLE","message":"Accept"}}'),
    },
  },
  {
    rule: 'R8',
    does: 'wants Authorization',
    exitCode: 3,
    change: {
      intercept: ({ headers }, response) =>
        headers.authorization === undefined &&
        !!response
          .writeHead(401, { ...json, 'WWW-Authenticate': 'Basic' })
          .end('{"error":{"code":"NO","message":"no"}}'),
    },
  },
  {
    rule: 'R9',
    does: 'grants an opaque token',
    change: { token: () => Math.random().toString(36).repeat(3) },
  },
  { rule: 'R9', does: 'pads the parts with =', isAlike: true, change: spelt(padded) },
  {
    rule: 'R9',
    does: 'writes base64 in place of base64url',
    isAlike: true,
    change: { ...spelt(plainBase64), ...withClaims({ scope: '????' }) },
  },
  { rule: 'R10', does: 'puts a constant into sub', change: withClaims({ sub: 'device' }) },
  {
    rule: 'R11',
    does: 'writes iat in milliseconds',
    change: {
      claims: (claims) => ({
        ...claims,
        iat: Number(claims.iat) * 1000,
        exp: Number(claims.iat) * 1000 + 60,
      }),
    },
  },
  {
    rule: 'R11',
    does: 'lives an hour ahead',
    isAlike: true,
    change: {
      claims: (claims) => ({ ...claims, iat: Number(claims.iat) + 3_600, exp: Number(claims.exp) + 3_600 }),
    },
  },
  {
    rule: 'R12',
    does: 'grants for 61 s',
    change: { claims: (claims) => ({ ...claims, exp: Number(claims.exp) + 1 }) },
  },
  { rule: 'R12', does: 'has no exp', isAlike: true, change: withClaims({ exp: undefined }) },
  { rule: 'R13', does: 'has another audience', change: withClaims({ aud: 'voice' }) },
  {
    rule: 'R13',
    does: 'has a list of one audience',
    isAlike: true,
    verdict: 'warn',
    change: withClaims({ aud: ['voice-api'] }),
  },
  {
    rule: 'R14',
    does: 'has an issuer for each path',
    change: { claims: (claims, { path }) => ({ ...claims, iss: path }) },
  },
  {
    rule: 'R14',
    does: 'changes its issuer once',
    change: {
      claims: (claims) => {
        issued += 1;
        return { ...claims, iss: issued > 2 ? 'new' : 'old' };
      },
    },
  },
  {
    rule: 'R15',
    does: 'does not need a key',
    change: {
      problem: (problem, { fields }) =>
        isMissing(fields, 'apiKey') && 'deviceId' in fields ? undefined : problem,
    },
  },
  {
    rule: 'R15',
    does: 'has no details for the key',
    isAlike: true,
    change: {
      problem: (problem, { fields }) =>
        problem && isMissing(fields, 'apiKey') && 'deviceId' in fields
          ? { code: problem.code, message: problem.message }
          : problem,
    },
  },
  {
    rule: 'R16',
    does: 'does not name the device',
    change: {
      problem: (problem, { fields }) =>
        problem && isMissing(fields, 'deviceId') && 'apiKey' in fields
          ? { ...problem, message: 'Missing field' }
          : problem,
    },
  },
  {
    rule: 'R17',
    does: 'has another code for what is no JSON',
    change: {
      problem: (problem) =>
        problem && problem.details === undefined ? { ...problem, code: 'BAD_JSON' } : problem,
    },
  },
  {
    rule: 'R18',
    does: 'accepts an empty key',
    change: { problem: (problem, { fields }) => (fields.apiKey === '' ? undefined : problem) },
  },
  {
    rule: 'R19',
    does: 'has another code for an empty device',
    change: {
      problem: (problem, { fields }) =>
        problem && fields.deviceId === '' ? { ...problem, code: 'EMPTY' } : problem,
    },
  },
  {
    rule: 'R20',
    does: 'takes a number for a device',
    verdict: 'warn',
    change: { problem: (problem, { fields }) => (typeof fields.deviceId === 'number' ? undefined : problem) },
  },
  { rule: 'R21', does: 'has flat errors', change: { errorBody: (error) => error } },
  {
    rule: 'R21',
    does: 'has no message',
    isAlike: true,
    change: {
      errorBody: ({ code, details, message }) => ({ error: { code, details, message: { text: message } } }),
    },
    also: ['R15', 'R16'],
  },
  { rule: 'R22', does: 'answers errors with 200', change: { errorStatus: 200 } },
  { rule: 'R23', does: 'does not say when it resets', change: { reset: () => '' } },
  { rule: 'R24', does: 'says 100', change: { statedLimit: 100 }, also: ['R29'] },
  { rule: 'R25', does: 'never counts down', change: { remaining: () => 59 }, also: ['R26', 'R29'] },
  { rule: 'R25', does: 'counts from 60', change: { remaining: (left) => left + 1 }, also: ['R29'] },
  {
    rule: 'R25',
    does: 'counts up',
    isAlike: true,
    change: { remaining: (left) => 119 - left },
    also: ['R26', 'R29'],
  },
  { rule: 'R25', does: 'counts down by two', isAlike: true, change: { remaining: (left) => 2 * left - 60 } },
  {
    rule: 'R26',
    does: 'has a window for each path',
    change: { windowOf: ({ path, fields }) => path + String(fields.deviceId) },
  },
  {
    rule: 'R27',
    does: 'has one window for all devices',
    change: { windowOf: () => 'all' },
    also: ['R29', 'R30', 'R31'],
  },
  {
    rule: 'R28',
    does: 'says in how many seconds',
    change: { reset: (at, now) => String(Math.ceil((at - now) / 1000)) },
  },
  {
    rule: 'R28',
    does: 'says a moment an hour away',
    isAlike: true,
    change: { reset: (at) => String(Math.ceil(at / 1000) + 3_600) },
  },
  { rule: 'R28', does: 'resets 3 s late', change: { reset: (at) => String(Math.ceil(at / 1000) + 3) } },
  { rule: 'R28', does: 'has a window of 45 s', change: { windowMs: 45_000 } },
  {
    rule: 'R29',
    does: 'has a window of two minutes',
    level: 'standard',
    change: { windowMs: 120_000 },
    also: ['R28', 'R31'],
  },
  {
    rule: 'R29',
    does: 'gives requests back one by one',
    isAlike: true,
    verdict: 'warn',
    level: 'standard',
    change: { windowMs: 25_000, reset: (_at, now) => String(Math.ceil((now + 60_000) / 1000)) },
    also: ['R28'],
  },
  {
    rule: 'R30',
    does: 'has no limit',
    level: 'exhaust',
    change: { limit: 100, remaining: (left) => Math.max(0, left - 40) },
    also: ['R31'],
  },
  {
    rule: 'R30',
    does: 'refuses the 60th',
    isAlike: true,
    level: 'exhaust',
    change: { limit: 59, remaining: (left) => left + 1 },
  },
  {
    rule: 'R31',
    does: 'refuses for two minutes',
    level: 'exhaust',
    change: { windowMs: 120_000, reset: (at) => String(Math.ceil(at / 1000) - 60) },
    also: ['R29'],
  },
  {
    rule: 'R32',
    does: 'has a certificate for another name',
    exitCode: 4,
    change: { host: elsewhere, certificateFor: ['voice.example'] },
  },
  { rule: 'R32', does: 'speaks plain HTTP to other machines', change: { host: elsewhere } },
  {
    rule: 'R32',
    does: 'streams without TLS',
    change: { host: elsewhere, certificateFor: [elsewhere], plainStream: true },
  },
  { rule: 'R33', does: 'has no stream', change: { upgradeStatus: 404 } },
  {
    rule: 'R34',
    does: 'greets before the token, but not at once',
    change: { onOpen: (socket) => void hastyClock.after(300, () => socket.send('{"type":"hello"}')) },
  },
  { rule: 'R34', does: 'greets at once', change: { onOpen: (socket) => socket.send('{"type":"hello"}') } },
  {
    rule: 'R34',
    does: 'confirms before the token, and goes on otherwise',
    change: {
      onOpen: (socket) => socket.send('{"type":"service_voice_connected"}'),
      connected: () => {},
    },
    also: ['R35'],
  },
  {
    rule: 'R34',
    does: 'confirms any text',
    change: { refusal: (token, now) => (token === undefined ? undefined : lawful.refusal(token, now)) },
  },
  { rule: 'R35', does: 'refuses every token', change: { refusal: () => 'no' } },
  {
    rule: 'R35',
    does: 'confirms in a binary message',
    change: { connected: ({ socket }) => socket.send(Buffer.from('{"type":"service_voice_connected"}')) },
  },
  {
    rule: 'R35',
    does: 'confirms in other words',
    change: { connected: ({ say }) => say({ type: 'ready' }) },
  },
  {
    rule: 'R36',
    does: 'refuses tokens of the v1 path',
    change: { refusal: (token, now) => (token?.path === v1 ? 'v1' : lawful.refusal(token, now)) },
  },
  { rule: 'R37', does: 'takes no binary messages', change: { onAudio: ({ socket }) => socket.close(1003) } },
  {
    rule: 'R37',
    does: 'sends a frame that violates the WebSocket protocol',
    change: { onAudio: ({ socket }) => writeRaw(socket, Buffer.of(0xf2, 0)) },
  },
  {
    rule: 'R37',
    does: 'says its audio as text',
    isAlike: true,
    change: { onAudio: ({ say }, pcm) => say({ type: 'audio', data: pcm.toString('base64') }) },
  },
  { rule: 'R38', does: 'speaks big-endian', change: withAudio((pcm) => Buffer.from(evens(pcm)).swap16()) },
  { rule: 'R38', does: 'speaks stereo', isAlike: true, change: withAudio(twice) },
  {
    rule: 'R38',
    does: 'speaks for 3 s at 24 kHz',
    waitMs: 2_000,
    change: repliesToTurns({ pcm: spoken(3_000, 24_000), messageMs: 30, everyMs: 20 }),
  },
  {
    rule: 'R38',
    does: 'speaks for 2 s at 24 kHz',
    isAlike: true,
    waitMs: 2_000,
    verdict: 'warn',
    change: repliesToTurns({ pcm: spoken(2_000, 24_000), messageMs: 30, everyMs: 20 }),
  },
  {
    rule: 'R38',
    does: 'speaks for 4 s at 8 kHz',
    isAlike: true,
    waitMs: 2_000,
    change: repliesToTurns({ pcm: spoken(4_000, 8_000), messageMs: 10, everyMs: 20 }),
  },
  {
    rule: 'R38',
    does: 'begins with a WAV header',
    isAlike: true,
    change: {
      onAudio: (stream, pcm) => {
        const head = begun.has(stream) ? '' : 'RIFF';
        begun.add(stream);
        stream.socket.send(Buffer.concat([Buffer.from(head), pcm]));
      },
    },
  },
  {
    rule: 'R38',
    does: 'ends within a sample',
    isAlike: true,
    change: {
      onAudio: (stream, pcm) => {
        const tail = begun.has(stream) ? '' : 'x';
        begun.add(stream);
        stream.socket.send(Buffer.concat([Buffer.from(tail), pcm]));
      },
    },
  },
  {
    rule: 'R39',
    does: 'answers text in plain words',
    change: { onText: ({ socket }) => socket.send('no text, please') },
  },
  {
    rule: 'R40',
    does: 'lets tokens expire after 50 s',
    level: 'standard',
    change: {
      refusal: (token, now) =>
        token && now >= token.expiresAt - 10_000 ? 'expired' : lawful.refusal(token, now),
    },
  },
  {
    rule: 'R41',
    does: 'never looks at exp',
    level: 'standard',
    change: { refusal: (token) => (token === undefined || token.used ? 'no' : undefined) },
  },
  { rule: 'R42', does: 'has nine slots', level: 'standard', change: { maxConnections: 9 } },
  { rule: 'R43', does: 'has eleven slots', level: 'standard', change: { maxConnections: 11 } },
  {
    rule: 'R44',
    does: 'keeps the slot of a closed stream',
    level: 'standard',
    change: { slotBackMs: undefined },
    // On a busy machine its token may be too old to tell.
    verdict: ['fail', 'warn', 'unknown'],
    also: [],
  },
  {
    rule: 'R44',
    does: 'has ten slots for all devices',
    level: 'standard',
    change: { slotOf: () => 'all' },
    // Where a slot of the first try is still taken, the second try does not come to the other device.
    verdict: ['fail', 'warn'],
  },
  { rule: 'R45', does: 'refuses a token that was used', isAlike: true, verdict: 'observed', change: {} },
  { rule: 'R45', does: 'accepts a token again', verdict: 'observed', change: { refusal: anyKnown } },
  {
    rule: 'R5',
    does: 'grants the same token again',
    isAlike: true,
    change: {
      token: (token, { fields }) => {
        const key = String(fields.deviceId);
        const kept = cached.get(key) ?? token;
        cached.set(key, kept);
        return kept;
      },
      refusal: anyKnown,
    },
    also: ['R11'],
  },
  {
    rule: 'R5',
    does: 'grants the first token four times, and then new ones',
    change: {
      token: (token, { fields }) => {
        const key = String(fields.deviceId);
        const kept = often.get(key) ?? { token, count: 0 };
        kept.count += 1;
        often.set(key, kept);
        return kept.count <= 4 ? kept.token : token;
      },
      refusal: anyKnown,
    },
    also: ['R11'],
  },
];
