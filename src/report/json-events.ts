import type { RunComparison } from '../runs/compare/compare-runs.ts';
import type { LoadFacts } from '../runs/load/result.ts';
import type { SecondSummary } from '../runs/load/summary.ts';
import type { RepeatSummary } from '../runs/repeat.ts';
import type { EmulatorEvent, EmulatorEventBody } from '../service/events.ts';
import type { SessionEvent } from '../session/events.ts';
import type { checkSummaryObject, exchangeObject, planObject, ruleObject } from './check-lines.ts';
import type { drilledObject, drillSummaryObject, situationObject } from './drill-lines.ts';

/**
 * What `--json` prints, for programs: each kind of line and its fields. The compiler requires every kind of event and
 * every field with its type, optional ones with `?`.
 */

type KindOf<T> = T extends string
  ? 'string'
  : T extends number
    ? 'number'
    : T extends boolean
      ? 'boolean'
      : T extends readonly unknown[]
        ? 'list'
        : 'object';
/** `number: seconds`, `string or null: why` */
type FieldText<T> = unknown extends T
  ? `any: ${string}`
  : `${KindOf<NonNullable<T>>}${null extends T ? ' or null' : ''}: ${string}`;
/** Each field with what it holds; one that may be missing has a `?`. */
type FieldTexts<Body> = {
  [Name in keyof Body & string as undefined extends Body[Name]
    ? unknown extends Body[Name]
      ? Name
      : `${Name}?`
    : Name]-?: unknown extends Body[Name] ? FieldText<unknown> : FieldText<Exclude<Body[Name], undefined>>;
};
interface Described<Body> {
  says: string;
  fields: FieldTexts<Body>;
}
/** The fields of one kind beside those that all kinds of its stream have. */
type BodyOf<Event extends { type: string }, Type, Common extends string> = Event extends unknown
  ? Type extends Event['type']
    ? Omit<Event, 'type' | Common>
    : never
  : never;
type DescribedEvents<Event extends { type: string }, Common extends string> = {
  [Type in Event['type']]: Described<BodyOf<Event, Type, Common>>;
};

const stream = 'number: the stream' as const;
const device = 'string: the device' as const;
const remote = 'string: address of the peer' as const;
const t = 'number: milliseconds since the beginning, monotonic' as const;
const version = 'string: of voicectl' as const;
const verdictFields = {
  title: 'string: in short',
  section: 'string: of the specification',
  says: 'string: the sentence',
  verdict: 'string: pass, fail, warn, observed, unknown or skipped',
  message: 'string: what was seen',
  exchanges: 'list: names of the exchanges that show it',
  evidence: 'list: those exchanges, with what was sent and received',
} as const;
const summaryOfVerdicts = {
  version,
  verdicts: 'object: how many of each verdict',
  stopped: 'object or null: why it ended early, code and message',
  elapsedMs: 'number: milliseconds',
  exitCode: 'number: of the command',
} as const;

const rate = 'object: limit, remaining, resetAtMs';
const spread = 'p50, p95 and max in milliseconds';

const sessionEvents: DescribedEvents<SessionEvent, 't'> = {
  session: {
    says: 'A session begins.',
    fields: {
      version,
      device: 'string: sent for the token',
      baseUrl: 'string: HTTP address of the service',
      wsUrl: 'string: WebSocket address of the service',
      source: 'string: what is streamed',
      format: 'string: of the source, in words',
      'durationMs?': 'number: length of the source',
      'pace?':
        'number: how many times as fast as real time it is sent, or max; left out in real time and of a microphone',
    },
  },
  state: {
    says: 'The session goes on.',
    fields: { state: 'string: token, connecting, authorising, live, draining or closed' },
  },
  retry: {
    says: 'The token request is made again after a pause.',
    fields: {
      attempt: 'number: from 1',
      delayMs: 'number: the pause',
      code: 'string: of the error',
      message: 'string: of the error',
    },
  },
  token: {
    says: 'A token was granted; it is never printed.',
    fields: {
      'claims?': 'object: of the token',
      'rateLimit?': rate as FieldText<object>,
      'status?': 'number: HTTP status',
      'ms?': 'number: duration of the last request',
      'attempts?': 'number: of requests',
    },
  },
  message: {
    says: 'The service sent text.',
    fields: {
      category: 'string: connected, status, error, transcript or other',
      'kind?': 'string: its type, as --expect-event names it',
      body: 'any: the message',
    },
  },
  audio: {
    says: 'Audio passed; several messages may be one event.',
    fields: {
      direction: 'string: out (to the service) or in',
      frames: 'number: binary messages',
      bytes: 'number: of audio',
      audioMs: 'number: length of the audio',
      rmsDbfs: 'number: loudest message, RMS',
      peakDbfs: 'number: highest sample',
      'clipped?': 'boolean: a sample was at an end of the scale',
    },
  },
  speech: {
    says: 'The user began or stopped to speak.',
    fields: {
      state: 'string: start or end',
      audioMs: 'number: position in the sent audio',
      'bargeIn?': 'boolean: the AI was audible',
    },
  },
  turn: {
    says: 'A clip of a conversation file begins or ends.',
    fields: {
      turn: 'number: its place in the file, from 1',
      state: 'string: start or end',
      atMs: 'number: position in the sent audio',
      'holdMs?': 'number: it is no turn, and nothing may change for so long',
    },
  },
  gap: {
    says: 'A reply paused.',
    fields: { ms: 'number: silence that a listener heard', 'atMs?': 'number: when it ended, like t' },
  },
  figures: {
    says: 'The figures so far, about once a second.',
    fields: {
      firstAudioMs: 'number or null: from the end of the speech to the first AI audio',
      jitterMs: `object or null: of arrivals, ${spread}`,
      longestGapMs: 'number or null: between two messages of a reply',
      sendLatenessMs: `object or null: how late frames left, ${spread}`,
      underruns: 'number or null: of playback',
      playbackDelayMs: 'number or null: from arrival to the ear, estimated',
    },
  },
  warning: {
    says: 'Something to look at.',
    fields: {
      code: 'string: its kind',
      message: 'string: what it is',
      'hint?': 'string: what to do',
      'side?': 'string: device or service, in a proxy',
      'agoMs?': 'number: how long ago it was heard in the AI’s audio; below 0 it is still to be played',
    },
  },
  close: {
    says: 'The stream closed.',
    fields: {
      code: 'number: close code',
      reason: 'string: of the service',
      name: 'string: of the code',
      'from?': 'string: device or service, who closed first, or vanished',
    },
  },
  summary: {
    says: 'The result of the session, or with --repeat of all of them; last.',
    fields: {
      device,
      ok: 'boolean: it ran to its end, and every expectation held',
      elapsedMs: 'number: of the session',
      tokenMs: 'number or null: of the token request',
      connectMs: 'number or null: of the upgrade',
      authoriseMs: 'number or null: from the token to the confirmation',
      out: 'object: frames, bytes and audioMs that were sent',
      in: 'object: frames, bytes and audioMs that were received',
      audibleMs: 'number: AI audio above −60 dBFS',
      firstAudioMs: 'number or null: from the end of the speech to the first AI audio',
      jitterMs: `object or null: of arrivals, ${spread}`,
      longestGapMs: 'number or null: between two messages of a reply',
      sendLatenessMs: `object or null: how late frames left, ${spread}`,
      underruns: 'number or null: of playback',
      'voice?': 'object: what was found in the AI audio',
      'dialogue?': 'object: who spoke when: turns, noises, ai, overlaps, figures and rules',
      events: 'object: number of service messages by kind',
      rateLimit: 'object or null: limit, remaining, resetAtMs',
      close: 'object or null: code, reason and name',
      'transcript?': 'list: what the service said was spoken',
      verdicts: 'list: each expectation with name, ok, expected, measured and kind of failure',
      failure: 'object or null: kind, code, exitCode and message',
    },
  },
};

const repeatEvents: DescribedEvents<{ type: 'summary-of-runs' } & RepeatSummary, never> = {
  'summary-of-runs': {
    says: 'The result of all runs.',
    fields: {
      device,
      ok: 'boolean: every run was',
      elapsedMs: 'number: of all',
      out: 'object: sent in all',
      in: 'object: received in all',
      events: 'object: number of service messages by kind',
      failure: 'object or null: kind, code, exitCode and message',
      runs: 'number: that count',
      passed: 'number: of them',
      passRate: 'number: from 0 to 1',
      warmup: 'number: of runs before',
      failures: 'object: number of failed runs by kind',
      spread:
        'object: each figure with count, min, median, p95 and max; turn-taking with a value for each turn',
      turnTaking:
        'object: what went wrong between the voices, counted; null where nothing was judged or scripted',
      verdicts: 'list: each expectation, with the number of runs that met it',
    },
  },
};

type EmulatorCommon = 't' | 'level' | 'instance' | 'side' | 'from';

const emulatorEvents: DescribedEvents<EmulatorEvent & EmulatorEventBody, EmulatorCommon> = {
  listening: {
    says: 'It listens; first.',
    fields: {
      version,
      baseUrl: 'string: HTTP address',
      wsUrl: 'string: WebSocket address',
      'lan?': 'list: addresses for other machines',
    },
  },
  'tls-failed': { says: 'A TLS handshake failed.', fields: { remote, why: 'string: the reason' } },
  'tls-opened': { says: 'A TLS handshake succeeded.', fields: { remote, protocol: 'string: its version' } },
  'token-issued': {
    says: 'A token was granted.',
    fields: {
      device,
      jti: 'string: the token',
      exp: 'number: seconds since the epoch',
      remaining: 'number: requests left in the window',
      resetAtMs: 'number: milliseconds since the epoch',
      'ms?': 'number: from the request to the answer',
      'sent?': 'object: headers of the request',
    },
  },
  'request-refused': {
    says: 'A request was refused.',
    fields: {
      cause: 'string: rateLimited, unauthorized, invalidRequest …',
      status: 'number: HTTP status',
      code: 'string: of the error body',
      message: 'string: of the error body',
      'device?': device,
      'path?': 'string: of the request',
      'remote?': remote,
      'why?': 'string: more than the client is told',
      'sent?': 'object: headers of the request',
      'count?': 'number: refusals that this event stands for',
    },
  },
  'stream-opened': { says: 'A WebSocket opened.', fields: { stream, remote } },
  'token-problem': {
    says: 'A token was refused, or sent in the wrong way.',
    fields: {
      stream,
      remote,
      'device?': device,
      'jti?': 'string: the token',
      cause: 'string: of the close',
      why: 'string: what is wrong',
      advice: 'string: what to send',
    },
  },
  'stream-authorised': {
    says: 'The token was accepted.',
    fields: { stream, device, jti: 'string: the token', connections: 'number: of the device' },
  },
  'message-sent': { says: 'The service sent text.', fields: { stream, device, body: 'any: the message' } },
  'text-received': {
    says: 'The device sent text after the token.',
    fields: {
      stream,
      device,
      bytes: 'number: size',
      'count?': 'number: texts that this event stands for',
    },
  },
  'turn-started': {
    says: 'The user began to speak.',
    fields: { stream, device, atMs: 'number: audio since the stream began' },
  },
  'turn-ended': {
    says: 'The user stopped.',
    fields: {
      stream,
      device,
      atMs: 'number: audio since the stream began',
      turnMs: 'number: length of the turn',
    },
  },
  'reply-started': { says: 'The AI began to speak.', fields: { stream, device } },
  'reply-failed': {
    says: 'A reply could not be made.',
    fields: { stream, device, why: 'string: the reason' },
  },
  'reply-ended': {
    says: 'The AI stopped.',
    fields: { stream, device, bargeIn: 'boolean: the user interrupted it' },
  },
  'fault-struck': {
    says: 'A fault struck.',
    fields: {
      fault: 'string: its name',
      id: 'number: of the active fault',
      'device?': device,
      'stream?': 'number: the stream; missing if it struck a request',
      'sent?': 'object: headers of the request',
    },
  },
  'device-finding': voiceFinding('device'),
  'service-finding': voiceFinding('service'),
  'device-verdict': voiceVerdict('device'),
  'service-verdict': voiceVerdict('service'),
  'stream-closed': {
    says: 'A stream ended, with its totals.',
    fields: {
      remarks: 'list: advice for the developer of the device',
      stream,
      'device?': 'string: missing if no token was accepted',
      'jti?': 'string: the token',
      code: 'number: of the peer',
      reason: 'string: of the close',
      'sentCode?': 'number: close code of this side',
      'cause?': 'string: why this side ended it',
      'why?': 'string: more about it',
      durationMs: 'number: of the stream',
      framesIn: 'number: binary messages received',
      bytesIn: 'number: received',
      framesOut: 'number: binary messages sent',
      bytesOut: 'number: sent',
      oddMessages: 'number: messages that ended within a sample',
      emptyMessages: 'number: messages without audio',
      'bytesAfterClose?': 'number: audio after the close of this side',
      'unjudged?': 'number: messages that passed unjudged, in a proxy',
    },
  },
  control: {
    says: 'Somebody acted from outside.',
    fields: {
      what: 'string: the action',
      'streams?': 'list: streams that it reached',
      'byMs?': 'number: how far the clock was moved',
    },
  },
  violation: judgement('A side broke a rule; reported once per stream and rule.'),
  remark: judgement('A side did something unusual.'),
  'shared-away': {
    says: 'The shared state cannot be reached.',
    fields: { why: 'string: the reason' },
  },
  'shared-back': {
    says: 'The shared state is back.',
    fields: { awayMs: 'number: for how long it was away' },
  },
  'voices-unjudged': {
    says: 'More voices at once than are listened to: how the others sound is not judged. Once.',
    fields: { most: 'number: how many are listened to at once' },
  },
  'shared-warning': {
    says: 'A problem with the shared state that has to be fixed.',
    fields: { why: 'string: what it is' },
  },
  'recording-failed': {
    says: 'A stream can no longer be recorded.',
    fields: { stream, why: 'string: the reason' },
  },
  bug: {
    says: 'A part of voicectl failed; one request or stream ended.',
    fields: {
      'stream?': stream,
      'path?': 'string: of the request',
      'remote?': remote,
      why: 'string: the error',
      calls: 'list: where',
    },
  },
  stopping: { says: 'It stops.', fields: {} },
};

function voiceFinding(side: string) {
  return {
    says: `Something is wrong with the audio of the ${side}.`,
    fields: {
      stream,
      device,
      finding: 'string: its kind',
      remark: 'string: in words',
      'isDoubtful?': 'boolean: there is another explanation',
      'advice?': 'string: what to do',
      'atMs?': 'number: where it is in the audio; missing if it is about all of it',
      'lengthMs?': 'number: how long it is',
      'agoMs?': 'number: how long ago it was heard; below 0 it is still to be played',
      'figure?': 'object: value and unit of what was measured',
    },
  } as const;
}

function voiceVerdict(side: string) {
  return {
    says: `How the ${side} sends, after two seconds of audio and at each change.`,
    fields: {
      stream,
      device,
      pace: 'object: measured',
      findings: 'list: kinds',
      remarks: 'list: the same in words; empty if all is well',
      'advice?': 'string: what to do about the first remark',
    },
  } as const;
}

function judgement(says: string) {
  return {
    says,
    fields: {
      rule: 'string: R1 … of the service, D1 … of a device',
      message: 'string: the rule, in short',
      value: 'string: what was seen',
      count: 'number: how often so far',
      'device?': device,
      'stream?': stream,
    },
  } as const;
}

const checkEvents: DescribedEvents<
  | Typed<'plan', ReturnType<typeof planObject>>
  | Typed<'rule', ReturnType<typeof ruleObject>>
  | Typed<'exchange', ReturnType<typeof exchangeObject>>
  | Typed<'summary', ReturnType<typeof checkSummaryObject>>,
  never
> = {
  plan: {
    says: 'What would be asked, with --dry-run.',
    fields: {
      version,
      steps: 'list: each exchange with id, title, level, cost and after',
      cost: 'object: tokens, plain requests and connections',
      confirmCost: 'object: what confirming a failure may add',
      requests: 'number: of all kinds',
      durationMs: 'number: expected',
    },
  },
  rule: {
    says: 'The verdict on one rule.',
    fields: { id: 'string: R1 …', ...verdictFields, 'expected?': 'string: why --expected lets it fail' },
  },
  exchange: {
    says: 'One exchange, whole, with --again. Keys and tokens are concealed.',
    fields: {
      id: 'string: E6 …',
      step: 'string: the step of the plan that it belongs to',
      title: 'string: what was asked',
      at: 'string: when it began',
      request: 'object: method, url, headers and body',
      answer: 'object or null: status, headers and body',
      error: 'string or null: why there is no complete answer',
      'token?': 'object or null: header and claims of the granted token',
      'ms?': 'number: until the end of the answer',
      'again?': 'string: the curl command that sends it',
      'messages?': 'list: of a stream, each with ms, from, opcode and text or bytes',
      'messageCount?': 'number: how many there were',
      'close?': 'object or null: code, reason and by',
    },
  },
  summary: {
    says: 'The result; last.',
    fields: {
      ...summaryOfVerdicts,
      requests: 'number: over HTTP',
      connections: 'number: WebSockets',
      cost: 'object: tokens, plain requests and connections',
      'leftOut?': 'list: with --again, what was not asked, each with step and why',
    },
  },
};

type Typed<Type, Body> = { type: Type } & Omit<Body, 'type'>;

const drillEvents: DescribedEvents<
  | Typed<'situation', ReturnType<typeof situationObject>>
  | Typed<'drill', ReturnType<typeof drilledObject>>
  | Typed<'summary', ReturnType<typeof drillSummaryObject>>,
  never
> = {
  situation: {
    says: 'A situation, with --list.',
    fields: {
      id: 'string: D9-1012 …',
      rule: 'string: D1 …',
      title: verdictFields.title,
      section: verdictFields.section,
      says: verdictFields.says,
      needsTls: 'boolean: only with --tls',
    },
  },
  drill: {
    says: 'The verdict on one situation.',
    fields: {
      id: 'string: of the situation, or of a rule that was broken beside it',
      situation: 'string: its id',
      rule: 'string: D1 …',
      ...verdictFields,
      output: 'list: last lines of the command',
      elapsedMs: 'number: milliseconds',
      again: 'string: the command line that repeats it',
    },
  },
  summary: { says: 'The result; last.', fields: summaryOfVerdicts },
};

const loadEvents: DescribedEvents<
  | Typed<'plan', LoadFacts>
  | Typed<'progress', Omit<SecondSummary, 'second'> & { t: number; core: number | null }>,
  never
> = {
  plan: {
    says: 'The plan; first.',
    fields: {
      version,
      target: 'string: the service',
      task: 'string: of each session',
      arrival: 'string: the schedule',
      seed: 'number: of random arrivals',
      startAt: 'number: milliseconds since the epoch',
      cost: 'object: sessions, devices, tokens and audio',
      'clean?': 'string: how clean the AI audio has to be',
    },
  },
  progress: {
    says: 'One second of the run.',
    fields: {
      t,
      open: 'number: sessions that are open',
      counts: 'object: of sessions and tokens in this second',
      times: 'object: each metric with p50, p95, p99 and max',
      late: 'object or null: how late frames and sessions left',
      core: 'number or null: share of a core',
    },
  },
};

const compareEvents: DescribedEvents<
  { type: 'comparison'; version: string; text: string; exitCode: number } & RunComparison,
  never
> = {
  comparison: {
    says: 'Whether it got worse; with `--baseline`, the line before the summary.',
    fields: {
      version,
      kind: 'string: load, stream, check, drill or dialect',
      a: 'object: what was before',
      b: 'object: what is now',
      verdict: 'string: worse, changed, unknown, better, same or not valid',
      text: 'string: the same in words',
      invalid: 'list: why one of them is not valid',
      figures: 'list: each figure with its difference and uncertainty',
      items: 'list: rules, situations or settings that changed',
      unchanged: 'number: of items that did not',
      exitCode: 'number: of the comparison',
    },
  },
};

/** A kind of line that `--json` prints. */
export interface JsonEvent {
  type: string;
  says: string;
  /** `type: meaning` by name; one that may be missing ends with `?`. */
  fields: Readonly<Record<string, string>>;
}

/** The lines of one kind of command. */
export interface JsonStream {
  commands: readonly string[];
  /** Fields of every line. */
  common: Readonly<Record<string, string>>;
  events: readonly JsonEvent[];
}

/** What `--json` prints, by command; a failure is `error`, last, for every command. */
export const jsonStreams: readonly JsonStream[] = [
  { commands: ['stream'], common: { t }, events: eventsOf(sessionEvents) },
  {
    commands: ['stream --repeat'],
    common: { t, 'run?': 'number: from 1', 'warmup?': 'boolean: it does not count' },
    events: [
      {
        ...sessionEvents.summary,
        type: 'run',
        says: 'The summary of one run, with the fields of `summary`.',
      },
      ...eventsOf(repeatEvents).map((event) => ({ ...event, type: 'summary' })),
    ],
  },
  {
    commands: ['serve', 'replay', 'proxy', 'emulator journal'],
    common: {
      t,
      'level?': 'string: warning, if a developer should look',
      'instance?': 'string: which emulator, if several are one service',
      'from?': 'string: device or service, in a proxy',
      'side?': 'string: the earlier name of from',
      'seq?': 'number: in the journal',
    },
    events: eventsOf(emulatorEvents),
  },
  { commands: ['check'], common: {}, events: eventsOf(checkEvents) },
  { commands: ['drill'], common: {}, events: eventsOf(drillEvents) },
  {
    commands: ['load', 'load merge'],
    common: {},
    events: [
      ...eventsOf(loadEvents),
      {
        type: 'summary',
        says: 'The result; last.',
        fields: {
          facts: 'object: the plan',
          counts: 'object: of sessions and tokens',
          failures: 'object: number by kind',
          metrics: 'object: each metric with count, unfinished and its percentiles',
          thresholds: 'list: each with its verdict',
          valid: 'boolean: whether the figures may be used',
          invalid: 'list: why not',
          lateMs: 'object: how late frames and sessions left',
          generators: 'list: the processes that made the load',
          shards: 'object: which shards it has, of how many',
          stopped: 'string or null: why it ended early',
          exitCode: 'number: of the command',
        },
      },
    ],
  },
  {
    commands: ['compare', 'load', 'stream --repeat', 'check', 'drill'],
    common: {},
    events: eventsOf(compareEvents),
  },
  {
    commands: ['every command'],
    common: {},
    events: [
      {
        type: 'error',
        says: 'The command failed; last.',
        fields: {
          code: 'string: see errors',
          kind: 'string: see failures',
          exitCode: 'number: of the command',
          message: 'string: what failed',
          'hint?': 'string: what to do',
          'details?': 'object: facts, such as the answer of the service',
        },
      },
    ],
  },
];

function eventsOf(described: Readonly<Record<string, { says: string; fields: object }>>): JsonEvent[] {
  return Object.entries(described).map(([type, { says, fields }]) => ({
    type,
    says,
    fields: fields as Record<string, string>,
  }));
}
