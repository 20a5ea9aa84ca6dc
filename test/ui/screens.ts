import type { EmulatorState } from '../../src/protocol/control.ts';
import type { TurnNews } from '../../src/report/turn-watch.ts';
import type { LiveLoad, LiveTimes } from '../../src/runs/load/live.ts';
import { noCounts } from '../../src/runs/load/tick.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import type { LoadNews } from '../../src/ui/load-model.ts';
import type { FrameRequest, ScreenStart } from '../../src/ui/port.ts';
import type { ServeNews } from '../../src/ui/serve-model.ts';
import type { JudgedItem, VerdictNews } from '../../src/ui/verdict-model.ts';

/** 2026-01-01T12:00:00Z. */
export const wall = Date.UTC(2026, 0, 1, 12);

export const streamStart: ScreenStart = {
  screen: 'stream',
  version: '0.0.0',
  ascii: false,
  can: ['copy', 'copyCurl', 'save', 'reconnect'],
  subject: 'hello.wav',
};

export const serveStart: ScreenStart = {
  screen: 'serve',
  version: '0.0.0',
  ascii: false,
  can: ['copy', 'copyCurl', 'save', 'advance', 'close', 'send', 'fault'],
  subject: 'replying with parrot',
  emulator: {
    faults: [
      { name: 'close', summary: 'the stream is closed with a code' },
      { name: 'drop', summary: 'the message is lost' },
    ],
  },
};

export const checkStart: ScreenStart = {
  screen: 'check',
  version: '0.0.0',
  ascii: false,
  can: ['copy'],
  subject: 'https://voice.example',
};

export const loadStart: ScreenStart = {
  screen: 'load',
  version: '0.0.0',
  ascii: false,
  can: ['copy'],
  subject: 'https://voice.example: talk, poisson:20/s',
};

export function frameRequest(given: Partial<FrameRequest> = {}): FrameRequest {
  return { columns: 80, rows: 24, now: 0, wall, events: [], input: '', fresh: false, ...given };
}

/** Audio of one direction, in messages of 100 ms. */
export function audio(
  direction: 'in' | 'out',
  { from, until, rmsDbfs = -20 }: { from: number; until: number; rmsDbfs?: number },
): SessionEvent[] {
  const count = Math.round((until - from) / 100);
  return Array.from({ length: count }, (_, index) => ({
    t: from + index * 100,
    type: 'audio',
    direction,
    frames: 5,
    bytes: 3_200,
    audioMs: 100,
    // Speech rises and falls.
    rmsDbfs: rmsDbfs <= -99 ? rmsDbfs : rmsDbfs + 8 * Math.sin(index / 2),
    peakDbfs: rmsDbfs <= -99 ? rmsDbfs : rmsDbfs + 12,
  }));
}

/** What was seen of the two voices in it: both speak, the AI yields, and it stops for a cough. */
export const seenTurns: TurnNews = {
  type: 'turns',
  fromMs: 0,
  overlaps: [
    { startMs: 4_700, endMs: 5_000 },
    { startMs: 8_000, endMs: 8_700 },
  ],
  marks: [
    {
      ...{ t: 5_000, sign: 'f', name: 'false stop', isProblem: true },
      text: 'false interruption: the AI stops for a sound that is not a turn',
    },
    {
      ...{ t: 8_700, sign: 'y', name: 'yields 700 ms', isProblem: false },
      text: 'the AI yields after 700 ms',
    },
  ],
};

/** A conversation of 12 s: a turn, a reply with a gap in it, a barge-in, an error. */
export function conversation(): SessionEvent[] {
  const events: SessionEvent[] = [
    {
      t: 0,
      type: 'session',
      version: '0.0.0',
      device: 'kitchen-1',
      baseUrl: 'https://voice.example',
      wsUrl: 'wss://voice.example',
      source: 'hello.wav',
      format: '16,000 Hz, 16-bit, mono',
    },
    { t: 1, type: 'state', state: 'token' },
    {
      t: 42,
      type: 'token',
      claims: {
        sub: 'kitchen-1',
        aud: 'voice-api',
        iss: 'voice.example',
        iat: wall / 1000 - 12,
        exp: wall / 1000 + 48,
        jti: 'a1b2c3',
      },
      rateLimit: { limit: 60, remaining: 41, resetAtMs: wall + 33_000 },
      status: 200,
      ms: 41,
      attempts: 1,
    },
    { t: 43, type: 'state', state: 'connecting' },
    { t: 70, type: 'state', state: 'authorising' },
    {
      t: 90,
      type: 'message',
      category: 'connected',
      kind: 'service_voice_connected',
      body: { type: 'service_voice_connected' },
    },
    { t: 91, type: 'state', state: 'live' },
    ...audio('out', { from: 100, until: 400, rmsDbfs: -100 }),
    { t: 400, type: 'speech', state: 'start', audioMs: 300 },
    ...audio('out', { from: 400, until: 3_400 }),
    { t: 3_400, type: 'speech', state: 'end', audioMs: 2_700 },
    {
      t: 4_000,
      type: 'message',
      category: 'status',
      kind: 'status',
      body: { type: 'status', status: 'speaking' },
    },
    ...audio('in', { from: 4_000, until: 5_500, rmsDbfs: -24 }),
    { t: 5_900, type: 'gap', ms: 400 },
    ...audio('in', { from: 5_900, until: 8_000, rmsDbfs: -24 }),
    { t: 8_000, type: 'speech', state: 'start', audioMs: 7_700, bargeIn: true },
    ...audio('out', { from: 8_000, until: 11_000, rmsDbfs: -12 }),
    {
      t: 9_000,
      type: 'message',
      category: 'error',
      kind: 'error',
      body: { type: 'error', error: { code: 'QUOTA', message: 'Zu viel 你好 👨‍👩‍👧 \u001b[31m' } },
    },
    {
      t: 11_000,
      type: 'figures',
      underruns: null,
      playbackDelayMs: null,
      firstAudioMs: 600,
      jitterMs: { p50: 2, p95: 61.4, max: 410 },
      longestGapMs: 400,
      sendLatenessMs: { p50: 0.1, p95: 1.9, max: 4 },
    },
  ];
  return events.toSorted((a, b) => a.t - b.t);
}

/** What the emulator is after a while, with this many sessions of three devices. */
export function emulatorState(sessions = 3): EmulatorState {
  const devices = ['kitchen-1', 'hall', 'küche 你好'];
  return {
    version: '0.0.0',
    clock: { now: new Date(wall).toISOString(), aheadMs: 61_000 },
    devices: devices.map((device, index) => ({
      device,
      connections: [7, 2, 0][index] ?? 0,
      maxConnections: 10,
      requests: [41, 60, 3][index] ?? 0,
      limit: 60,
      resetAt: new Date(wall + 23_000).toISOString(),
    })),
    streams: Array.from({ length: sessions }, (_, index) => ({
      stream: index + 1,
      device: devices[index % 3] ?? null,
      jti: null,
      remote: '127.0.0.1',
      claims: { sub: devices[index % 3], jti: `jti-${index}`, iat: 1_767_225_600, exp: 1_767_225_660 },
      durationMs: 10_000 + index * 1_000,
      framesIn: 500,
      bytesIn: 320_000,
      framesOut: 100,
      bytesOut: 64_000,
      levels: { inDbfs: -18 - index, outDbfs: index % 2 === 0 ? -100 : -24 },
      pace: { timesRealTime: 1, meanJitterMs: 1, longestGapMs: 25, burstMessages: 0 },
      findings: index === 1 ? ['stereo'] : [],
      remarks: index === 1 ? ['this looks like stereo: send one channel'] : [],
      ...(index === 1 ? { advice: 'send one channel' } : {}),
    })),
    tokens: [],
    faults: [{ id: 1, name: 'drop', struck: 4, probability: 0.1 }],
  };
}

/** An emulator that three devices have talked to. */
export function serveNews(sessions = 3): ServeNews[] {
  const device = 'kitchen-1';
  const events: EmulatorEvent[] = [
    {
      t: 0,
      type: 'listening',
      version: '0.0.0',
      baseUrl: 'http://127.0.0.1:8787',
      wsUrl: 'ws://127.0.0.1:8787',
    },
    {
      t: 1_000,
      type: 'token-issued',
      device,
      jti: 'j',
      exp: wall / 1000 + 60,
      remaining: 59,
      resetAtMs: wall,
    },
    { t: 1_050, type: 'stream-opened', stream: 1, remote: '127.0.0.1' },
    { t: 1_060, type: 'stream-authorised', stream: 1, device, jti: 'j', connections: 1 },
    { t: 1_061, type: 'message-sent', stream: 1, device, body: { type: 'service_voice_connected' } },
    { t: 2_000, type: 'turn-started', stream: 1, device, atMs: 900 },
    { t: 4_000, type: 'turn-ended', stream: 1, device, atMs: 2_900, turnMs: 2_000, agoMs: 720 },
    { t: 4_001, type: 'reply-started', stream: 1, device },
    { t: 4_500, type: 'fault-struck', fault: 'drop', id: 1, stream: 1, device },
    { t: 5_000, type: 'reply-ended', stream: 1, device, bargeIn: true },
    {
      t: 5_500,
      type: 'request-refused',
      cause: 'rateLimited',
      status: 429,
      code: 'RATE_LIMITED',
      message: 'Too many requests',
      device: 'hall',
    },
    {
      t: 6_000,
      type: 'device-finding',
      stream: 2,
      device: 'hall',
      finding: 'stereo',
      remark: 'this looks like stereo: send one channel',
      advice: 'send one channel',
    },
  ];
  const tokenUrl = 'http://127.0.0.1:8787/api/websocket-voice/token';
  const streamUrl = 'ws://127.0.0.1:8787/voice-stream';
  const addresses = {
    type: 'addresses',
    tokenUrl,
    streamUrl,
    curl: `curl -sS -X POST '${tokenUrl}' -H 'Content-Type: application/json'`,
  } as const;
  return [addresses, ...events, { type: 'state-seen', state: emulatorState(sessions) }];
}

/** A check of 30 rules, two thirds of which have a verdict. */
export function verdictNews(): VerdictNews[] {
  const items = Array.from({ length: 30 }, (_, index) => ({
    id: `R${index + 1}`,
    title: index === 3 ? 'a rule whose title is as long as any can be' : `rule number ${index + 1}`,
  }));
  const seen: Partial<Record<number, Partial<JudgedItem>>> = {
    4: {
      verdict: 'fail',
      message: 'Cache-Control is "max-age=60": a proxy may keep the token and \u202e你好',
    },
    8: { verdict: 'warn', message: 'aud is an array of one' },
    11: { verdict: 'fail', message: 'exp is 61 s after iat', isFinal: false },
    14: { verdict: 'observed', message: 'accepted until 12 to 31 s after exp' },
    16: { verdict: 'unknown', message: 'the answer has no Date' },
    18: { verdict: 'skipped', message: 'not asked at this level: --level standard' },
  };
  return [
    { type: 'planned', what: 'rules', items },
    {
      type: 'used',
      amounts: [
        { name: 'steps', used: 12, of: 22 },
        { name: 'requests', used: 9, of: 14 },
        { name: 'connections', used: 3, of: 8 },
      ],
    },
    ...items.slice(0, 20).map(({ id, title }, index): VerdictNews => {
      const item: JudgedItem = {
        id,
        title,
        verdict: 'pass',
        message: 'as specified',
        isFinal: true,
        ...seen[index + 1],
      };
      const lines = ['The specification says so.', '(Limits)', '', `${item.verdict}: ${item.message}`];
      return { type: 'judged', item, lines, body: { type: 'rule', id, verdict: item.verdict } };
    }),
    { type: 'doing', text: 'waiting', forMs: 28_000 },
  ];
}

/** One second of a load run in which the times rise. */
export function liveLoad(second: number): LiveLoad {
  const times = (metric: LiveTimes['metric'], ms: number, isLowerBound = false): LiveTimes => {
    const at = (value: number) => ({ ms: value, isLowerBound: false });
    const max = { ms: 12 * ms, isLowerBound };
    return { metric, statistics: { p50: at(ms), p95: at(2 * ms), p99: at(5 * ms), max } };
  };
  const p95 = (ms: number) => ({ p50: ms / 2, p95: ms, p99: ms, max: ms });
  const arrived = Math.min(200, 20 * (second + 1));
  return {
    last: {
      second,
      counts: { ...noCounts, arrived: 20 },
      open: Math.min(80, 20 * (second + 1)),
      times: {
        token: p95(10 + second),
        // A second without a reply is a hole.
        ...(second % 5 === 4 ? {} : { 'first-audio': p95(300 + 100 * second) }),
      },
      late: p95(1),
    },
    counts: { ...noCounts, arrived, done: arrived - 80, failed: 4, dropped: 1 },
    failures: { 'token-refused': 2, 'stream-broken': 1, timeout: 1 },
    times: [
      times('token', 12),
      times('connect', 1.5),
      times('confirmed', 2.25),
      times('first-audio', 400, true),
      times('jitter', 8),
      times('gap', 30),
      times('sent late', 0.8),
    ],
    thresholds: [
      {
        text: 'first-audio:p95<800ms',
        ...{ holds: true, value: 640, isLowerBound: false, limit: 800, unit: 'ms' },
      },
      { text: 'failed<1%', holds: false, value: 0.02, isLowerBound: false, limit: 0.01, unit: 'share' },
      { text: 'back:max<2s', holds: false, value: null, isLowerBound: false, limit: 2000, unit: 'ms' },
    ],
    core: 0.41,
  };
}

/** The first seconds of a load run, with failures. */
export function loadNews(seconds = 12): LoadNews[] {
  return [
    { type: 'planned', sessions: 200, startsInMs: 0, longestMs: 60_000 },
    ...Array.from({ length: seconds }, (_, second): LoadNews => ({ type: 'second', live: liveLoad(second) })),
    { type: 'failure', text: 'The token endpoint refused the key (403): no \u001b[31m你好' },
    { type: 'failure', text: 'The connection broke' },
  ];
}
