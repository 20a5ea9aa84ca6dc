import type { EmulatorEvent } from '../../src/service/events.ts';
import type { SessionEvent } from '../../src/session/events.ts';

const of = { stream: 3, device: 'kitchen-1' };
const pace = { timesRealTime: 1, meanJitterMs: 2, longestGapMs: 20, burstMessages: 0, passedMs: 2_000 };
const totals = {
  framesIn: 100,
  bytesIn: 64_000,
  framesOut: 50,
  bytesOut: 32_000,
  oddMessages: 0,
  emptyMessages: 0,
};
const judged = {
  from: 'service',
  rule: 'R39',
  message: 'text after the token',
  value: '5 bytes',
  count: 1,
} as const;

type BodyOf<Event extends { type: string }, Type> = Event extends unknown
  ? Type extends Event['type']
    ? Omit<Event, 't' | 'type'>
    : never
  : never;
type Bodies<Event extends { type: string }> = { [Type in Event['type']]: BodyOf<Event, Type> };

/** The compiler requires one for each kind. */
const emulatorEvents: Bodies<EmulatorEvent> = {
  listening: { version: '1.2.3', baseUrl: 'http://h', wsUrl: 'ws://h' },
  'tls-failed': { remote: '192.0.2.1', why: 'unknown CA', level: 'warning' },
  'tls-opened': { remote: '192.0.2.1', protocol: 'TLSv1.3' },
  'token-issued': { device: 'kitchen-1', jti: 'j', exp: 1, remaining: 59, resetAtMs: 1 },
  'request-refused': {
    ...{ cause: 'rateLimited', status: 429, code: 'RATE', message: 'too many', device: 'kitchen-1' },
    ...{ remote: '192.0.2.1', why: '60 of 60 used', count: 3, level: 'warning' },
  },
  'token-problem': {
    ...{
      ...of,
      remote: '192.0.2.1',
      cause: 'tokenTimeout',
      why: 'no token arrived',
      advice: 'send it first',
    },
    level: 'warning',
  },
  'stream-opened': { stream: 3, remote: '192.0.2.1' },
  'stream-authorised': { ...of, jti: 'j', connections: 2 },
  'message-sent': { ...of, body: { type: 'status', status: 'speaking' } },
  'text-received': { ...of, bytes: 5, count: 2, level: 'warning' },
  'turn-started': { ...of, atMs: 180 },
  'turn-ended': { ...of, atMs: 1_960, turnMs: 1_780, agoMs: 720 },
  'reply-started': of,
  'reply-failed': { ...of, why: 'it ended with 3', level: 'warning' },
  'reply-ended': { ...of, bargeIn: true },
  'fault-struck': { ...of, fault: 'drop', id: 1 },
  'device-finding': { ...of, finding: 'stereo', remark: 'this looks like stereo: send one channel' },
  'device-verdict': { ...of, pace, findings: [], remarks: ['sends 1.7 × real time'] } as never,
  'service-finding': {
    ...of,
    from: 'service',
    finding: 'stereo',
    remark: 'the service’s audio looks like stereo',
  },
  'service-verdict': { ...of, from: 'service', pace, findings: [], remarks: [] } as never,
  'stream-closed': {
    ...of,
    jti: 'j',
    code: 1006,
    sentCode: 1012,
    reason: '',
    durationMs: 14_240,
    findings: [],
    remarks: [],
    ...totals,
  },
  control: { what: 'closed 1 stream', streams: [3] },
  violation: { ...of, ...judged },
  remark: { ...of, ...judged },
  'shared-away': { why: 'ECONNREFUSED' },
  'shared-back': { awayMs: 3_000 },
  'voices-unjudged': { most: 16 },
  'shared-warning': { why: 'Redis evicts keys' },
  'recording-failed': { stream: 3, why: 'no space left' },
  bug: {
    stream: 3,
    remote: '192.0.2.7',
    why: 'TypeError: it is not iterable',
    calls: ['read (headers.ts:1:2)'],
  },
  stopping: {},
};

const sound = { frames: 50, bytes: 32_000, audioMs: 1_000, rmsDbfs: -20, peakDbfs: -8 };
const sessionEvents: Bodies<SessionEvent> = {
  session: {
    ...{ version: '1.2.3', device: 'kitchen-1', baseUrl: 'http://h', wsUrl: 'ws://h', source: 'hello.wav' },
    format: '16,000 Hz',
  },
  state: { state: 'live' },
  retry: { attempt: 1, delayMs: 1_500, code: 'rate-limited', message: 'too many requests' },
  token: { claims: undefined, ms: 12, rateLimit: { limit: 60, remaining: 59, resetAtMs: 1 } },
  message: { category: 'status', kind: 'status', body: { type: 'status', status: 'speaking' } },
  audio: { direction: 'in', ...sound, clipped: true },
  speech: { state: 'start', audioMs: 180, bargeIn: true },
  turn: { turn: 2, state: 'start', atMs: 180, holdMs: 1_000 },
  gap: { ms: 400 },
  figures: { firstAudioMs: 600, jitterMs: null, longestGapMs: 40, sendLatenessMs: null } as never,
  warning: { code: 'late', message: 'sent late', hint: 'close other programs' },
  close: { code: 4401, name: 'application', reason: 'expired' },
  summary: {
    ...{
      device: 'kitchen-1',
      ok: false,
      elapsedMs: 9_000,
      tokenMs: null,
      connectMs: null,
      authoriseMs: null,
    },
    ...{ out: sound, in: sound, audibleMs: 0, firstAudioMs: null, jitterMs: null, longestGapMs: null },
    ...{ sendLatenessMs: null, underruns: null, events: {}, rateLimit: null, close: null },
    verdicts: [{ name: 'expect-audio', ok: false, expected: 'any', measured: '0 ms', kind: 'no-audio' }],
    failure: { kind: 'no-audio', code: 'expectation-failed', exitCode: 1, message: 'no audio' },
  } as never,
};

const eventsOf = <Event extends { type: string; t: number }>(bodies: Bodies<Event>) =>
  Object.entries<object>(bodies).map(([type, body]) => ({
    type,
    event: { t: 1, type, ...body } as unknown as Event,
  }));

/** An event of each kind that an emulator or a proxy emits. */
export const everyEmulatorEvent = eventsOf<EmulatorEvent>(emulatorEvents);
/** An event of each kind that a session emits. */
export const everySessionEvent = eventsOf<SessionEvent>(sessionEvents);
