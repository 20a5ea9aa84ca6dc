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
/** The meaning of each field; an optional one has a `?`. */
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
/** The fields of one kind, without those that all kinds of its stream have. */
type BodyOf<Event extends { type: string }, Type, Common extends string> = Event extends unknown
  ? Type extends Event['type']
    ? Omit<Event, 'type' | Common>
    : never
  : never;
type DescribedEvents<Event extends { type: string }, Common extends string> = {
  [Type in Event['type']]: Described<BodyOf<Event, Type, Common>>;
};

const stream = 'number: number of the stream' as const;
const device = 'string: ID of the device' as const;
const remote = 'string: address of the peer' as const;
const t = 'number: milliseconds since the start, monotonic' as const;
const version = 'string: version of voicectl' as const;
const from = 'string: device or service' as const;
const verdictFields = {
  title: 'string: short title',
  section: 'string: section of the specification',
  says: 'string: the sentence of the specification',
  verdict: 'string: pass, fail, warn, observed, unknown or skipped',
  message: 'string: what was seen',
  exchanges: 'list: names of the exchanges that show it',
  evidence: 'list: those exchanges, with what was sent and received',
} as const;
const summaryOfVerdicts = {
  version,
  verdicts: 'object: count of each verdict',
  stopped: 'object or null: why it ended early, with code and message',
  elapsedMs: 'number: duration in milliseconds',
  exitCode: 'number: exit code of the command',
} as const;

const rate = 'object: limit, remaining, resetAtMs';
const spread = 'p50, p95 and max in milliseconds';

const sessionEvents: DescribedEvents<SessionEvent, 't'> = {
  session: {
    says: 'A session begins.',
    fields: {
      version,
      device: 'string: device ID in the token request',
      baseUrl: 'string: HTTP address of the service',
      wsUrl: 'string: WebSocket address of the service',
      source: 'string: what is streamed',
      format: 'string: format of the source, in words',
      'durationMs?': 'number: length of the source',
      'pace?':
        'number: sending speed as a multiple of real time, or max; absent for real time and for a microphone',
    },
  },
  state: {
    says: 'The session enters a new state.',
    fields: { state: 'string: token, connecting, authorising, live, draining or closed' },
  },
  retry: {
    says: 'The token request is repeated after a pause.',
    fields: {
      attempt: 'number: from 1',
      delayMs: 'number: the pause',
      code: 'string: code of the error',
      message: 'string: message of the error',
    },
  },
  token: {
    says: 'A token was granted; it is never printed.',
    fields: {
      'claims?': 'object: claims of the token',
      'rateLimit?': rate as FieldText<object>,
      'status?': 'number: HTTP status',
      'ms?': 'number: duration of the last request',
      'attempts?': 'number: number of requests',
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
      bytes: 'number: bytes of audio',
      audioMs: 'number: length of the audio',
      rmsDbfs: 'number: RMS level of the loudest message',
      peakDbfs: 'number: level of the highest sample',
      'clipped?': 'boolean: a sample reached full scale',
    },
  },
  speech: {
    says: 'The user started or stopped speaking.',
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
      'holdMs?':
        'number: present if the clip is not a turn: for this long the AI must neither stop nor reply',
    },
  },
  gap: {
    says: 'A reply paused.',
    fields: { ms: 'number: silence that a listener heard', 'atMs?': 'number: when it ended, like `t`' },
  },
  figures: {
    says: 'The figures so far, about once a second.',
    fields: {
      firstAudioMs: 'number or null: from the end of the speech to the first AI audio',
      jitterMs: `object or null: jitter of arrivals, ${spread}`,
      longestGapMs: 'number or null: longest gap between two messages of a reply',
      sendLatenessMs: `object or null: how late frames were sent, ${spread}`,
      underruns: 'number or null: underruns of playback',
      playbackDelayMs: 'number or null: estimated delay from arrival to playback',
    },
  },
  warning: {
    says: 'Something worth a look.',
    fields: {
      code: 'string: its kind',
      message: 'string: what it is',
      'hint?': 'string: what to do',
      'side?': 'string: device or service, in a proxy',
      'agoMs?': 'number: how long ago it was heard in the AI’s audio; negative if it is still to be played',
    },
  },
  close: {
    says: 'The stream closed.',
    fields: {
      code: 'number: close code',
      reason: 'string: reason given by the service',
      name: 'string: name of the code',
      'from?': 'string: device or service: the side that closed first, or vanished',
    },
  },
  summary: {
    says: 'The last line: the result of the session, or, with --repeat, of all sessions.',
    fields: {
      device,
      ok: 'boolean: it ran to its end and met every expectation',
      elapsedMs: 'number: duration of the session',
      tokenMs: 'number or null: duration of the token request',
      connectMs: 'number or null: duration of the upgrade',
      authoriseMs: 'number or null: from the token to the confirmation',
      out: 'object: frames, bytes and audioMs that were sent',
      in: 'object: frames, bytes and audioMs that were received',
      audibleMs: 'number: AI audio above −60 dBFS',
      firstAudioMs: 'number or null: from the end of the speech to the first AI audio',
      jitterMs: `object or null: jitter of arrivals, ${spread}`,
      longestGapMs: 'number or null: longest gap between two messages of a reply',
      sendLatenessMs: `object or null: how late frames were sent, ${spread}`,
      underruns: 'number or null: underruns of playback',
      'voice?': 'object: what was found in the AI audio',
      'dialogue?': 'object: who spoke when: turns, noises, ai, overlaps, figures and rules',
      events: 'object: number of service messages by kind',
      rateLimit: 'object or null: limit, remaining, resetAtMs',
      close: 'object or null: code, reason and name',
      'transcript?': 'list: what was spoken, according to the service',
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
      ok: 'boolean: every run was ok',
      elapsedMs: 'number: duration of all runs',
      out: 'object: total that was sent',
      in: 'object: total that was received',
      events: 'object: number of service messages by kind',
      failure: 'object or null: kind, code, exitCode and message',
      runs: 'number: runs that began, without warm-up runs',
      passed: 'number: runs that passed',
      passRate: 'number: share of runs that passed, from 0 to 1',
      warmup: 'number: warm-up runs before them',
      failures: 'object: number of failed runs by kind',
      spread:
        'object: each figure with count, min, median, p95 and max; turn-taking has a value for each turn',
      turnTaking:
        'object: counts of turn-taking problems by kind; null if not judged, or if that kind needs a script',
      verdicts: 'list: each expectation, with the number of runs that met it',
    },
  },
};

type EmulatorCommon = 't' | 'level' | 'instance' | 'side' | 'from';

const emulatorEvents: DescribedEvents<EmulatorEvent & EmulatorEventBody, EmulatorCommon> = {
  listening: {
    says: 'The first line: the emulator or proxy is listening.',
    fields: {
      version,
      baseUrl: 'string: HTTP address',
      wsUrl: 'string: WebSocket address',
      'lan?': 'list: addresses for other machines',
      'page?': 'string: address of the page, with its token',
    },
  },
  'tls-failed': { says: 'A TLS handshake failed.', fields: { remote, why: 'string: the reason' } },
  'tls-opened': { says: 'A TLS handshake succeeded.', fields: { remote, protocol: 'string: its version' } },
  'token-issued': {
    says: 'A token was granted.',
    fields: {
      device,
      jti: 'string: ID of the token',
      exp: 'number: expiry, in seconds since the epoch',
      remaining: 'number: requests left in the window',
      resetAtMs: 'number: end of the window, in milliseconds since the epoch',
      'ms?': 'number: time from the request to the answer',
      'sent?': 'object: headers of the request',
    },
  },
  'request-refused': {
    says: 'A request was refused.',
    fields: {
      cause: 'string: rateLimited, unauthorized, invalidRequest …',
      status: 'number: HTTP status',
      code: 'string: code in the error body',
      message: 'string: message in the error body',
      'device?': device,
      'path?': 'string: path of the request',
      'remote?': remote,
      'why?': 'string: details that the device is not sent',
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
      'jti?': 'string: ID of the token',
      cause: 'string: cause of the close',
      why: 'string: what is wrong',
      advice: 'string: what to send',
    },
  },
  'stream-authorised': {
    says: 'The token was accepted.',
    fields: {
      stream,
      device,
      jti: 'string: ID of the token',
      connections: 'number: open connections of the device',
    },
  },
  'message-sent': {
    says: 'The service sent text.',
    fields: {
      stream,
      device,
      body: 'any: the message',
      'kind?': 'string: its kind, if none of the usual fields names it',
    },
  },
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
    says: 'The user started speaking.',
    fields: { stream, device, atMs: 'number: position in the audio of the stream' },
  },
  'turn-ended': {
    says: 'The user stopped speaking.',
    fields: {
      stream,
      device,
      atMs: 'number: position in the audio of the stream',
      turnMs: 'number: length of the turn',
      agoMs: 'number: how long ago the speech ended; it is reported after a pause',
    },
  },
  'reply-started': {
    says: 'The AI started speaking.',
    fields: { stream, device, 'agoMs?': 'number: in a proxy: how long ago the AI started' },
  },
  'reply-failed': {
    says: 'A reply could not be produced.',
    fields: { stream, device, why: 'string: the reason' },
  },
  'reply-ended': {
    says: 'The AI stopped speaking.',
    fields: { stream, device, bargeIn: 'boolean: the user interrupted it' },
  },
  'fault-struck': {
    says: 'A fault struck.',
    fields: {
      fault: 'string: its name',
      id: 'number: number of the active fault',
      'device?': device,
      'stream?': 'number: number of the stream; absent if it struck a request',
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
      findings: 'list: kinds of the findings in the audio of the device',
      remarks: 'list: advice for the developer of the device',
      stream,
      'device?': 'string: ID of the device; absent if no token was accepted',
      'jti?': 'string: ID of the token',
      code: 'number: close code from the peer, or of this side if none was received',
      reason: 'string: reason of the close',
      'sentCode?': 'number: close code of this side',
      'cause?': 'string: why this side ended it',
      'why?': 'string: details',
      durationMs: 'number: duration of the stream',
      framesIn: 'number: binary messages received',
      bytesIn: 'number: bytes received',
      framesOut: 'number: binary messages sent',
      bytesOut: 'number: bytes sent',
      oddMessages: 'number: messages that ended in the middle of a sample',
      emptyMessages: 'number: messages without audio',
      'bytesAfterClose?': 'number: bytes of audio after the close of this side',
      'unjudged?': 'number: messages that a proxy relayed without judging them',
    },
  },
  control: {
    says: 'Somebody controlled the emulator or proxy from outside.',
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
    fields: { awayMs: 'number: how long it could not be reached' },
  },
  'voices-unjudged': {
    says: 'More voices are open than can be judged at once; the sound of the others is not judged. Reported once.',
    fields: { most: 'number: how many voices are judged at once' },
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
      'path?': 'string: path of the request',
      'remote?': remote,
      why: 'string: the error',
      calls: 'list: where it happened',
    },
  },
  stopping: { says: 'The emulator or proxy is stopping.', fields: {} },
};

function voiceFinding(side: string) {
  return {
    says: `Something is wrong with the audio of the ${side}.`,
    fields: {
      stream,
      device,
      finding: 'string: its kind',
      remark: 'string: the finding in words',
      'isDoubtful?': 'boolean: there is another explanation',
      'advice?': 'string: what to do',
      'atMs?': 'number: position in the audio; absent if it is about all of it',
      'lengthMs?': 'number: how long it is',
      'agoMs?': 'number: how long ago it was heard; negative if it is still to be played',
      'figure?': 'object: value and unit of what was measured',
    },
  } as const;
}

function voiceVerdict(side: string) {
  return {
    says: `How the ${side} sends. Reported after two seconds of audio and at each change.`,
    fields: {
      stream,
      device,
      pace: 'object: measured pace',
      findings: 'list: kinds of the findings',
      remarks: 'list: the findings in words; empty if there are none',
      'advice?': 'string: what to do about the first remark',
    },
  } as const;
}

function judgement(says: string) {
  return {
    says,
    fields: {
      rule: 'string: R1 … for the service, D1 … for a device',
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
    says: 'With --dry-run: what would be sent.',
    fields: {
      version,
      steps: 'list: each exchange with id, title, level, cost and after',
      cost: 'object: tokens, plain requests and connections',
      confirmCost: 'object: what confirming a failure may add',
      requests: 'number: requests of all kinds',
      durationMs: 'number: expected duration',
    },
  },
  rule: {
    says: 'The verdict on one rule.',
    fields: {
      id: 'string: R1 …',
      ...verdictFields,
      'expected?': 'string: the reason for a known failure, from --expected',
    },
  },
  exchange: {
    says: 'With --again: one complete exchange. Keys and tokens are concealed.',
    fields: {
      id: 'string: E6 …',
      step: 'string: the step of the plan that it belongs to',
      title: 'string: title of the step',
      at: 'string: when it began',
      request: 'object: method, url, headers and body',
      answer: 'object or null: status, headers and body',
      error: 'string or null: why there is no complete answer',
      'token?': 'object or null: header and claims of the granted token',
      'ms?': 'number: time until the end of the answer',
      'again?': 'string: the curl command that sends it',
      'messages?': 'list: messages of a stream, each with ms, from, opcode and text or bytes',
      'messageCount?': 'number: how many there were',
      'close?': 'object or null: code, reason and by',
    },
  },
  summary: {
    says: 'The last line: the result.',
    fields: {
      ...summaryOfVerdicts,
      requests: 'number: HTTP requests',
      connections: 'number: WebSocket connections',
      cost: 'object: tokens, plain requests and connections',
      'leftOut?': 'list: with --again, what was left out, each with step and why',
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
    says: 'With --list: one situation.',
    fields: {
      id: 'string: D9-1012 …',
      rule: 'string: D1 …',
      title: verdictFields.title,
      section: verdictFields.section,
      says: verdictFields.says,
      needsTls: 'boolean: it needs --tls',
    },
  },
  drill: {
    says: 'The verdict on one situation.',
    fields: {
      id: 'string: ID of the situation, or of a further rule that the device broke in it',
      situation: 'string: ID of the situation',
      rule: 'string: D1 …',
      ...verdictFields,
      output: 'list: last lines that the command printed',
      elapsedMs: 'number: duration in milliseconds',
      again: 'string: the command line that repeats it',
    },
  },
  summary: { says: 'The last line: the result.', fields: summaryOfVerdicts },
};

const loadEvents: DescribedEvents<
  | Typed<'plan', LoadFacts>
  | Typed<'progress', Omit<SecondSummary, 'second'> & { t: number; core: number | null }>,
  never
> = {
  plan: {
    says: 'The first line: the plan.',
    fields: {
      version,
      target: 'string: the service',
      task: 'string: task of each session',
      arrival: 'string: schedule of the arrivals',
      seed: 'number: seed of the random arrivals',
      startAt: 'number: start, in milliseconds since the epoch',
      cost: 'object: sessions, devices, tokens and audio',
      'clean?': 'string: how clean the AI audio has to be',
    },
  },
  progress: {
    says: 'One second of the run.',
    fields: {
      t,
      open: 'number: sessions that are open',
      counts: 'object: counts of sessions and tokens in this second',
      times: 'object: each metric with p50, p95, p99 and max',
      late: 'object or null: how late frames were sent and sessions started',
      core: 'number or null: share of a core that was used',
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
      a: 'object: the earlier result',
      b: 'object: the later result',
      verdict: 'string: worse, changed, unknown, better, same or not valid',
      text: 'string: the verdict in words',
      invalid: 'list: why one of them is not valid',
      figures: 'list: each figure with its difference and uncertainty',
      items: 'list: rules, situations or settings that changed',
      unchanged: 'number: items that did not change',
      exitCode: 'number: exit code of the comparison',
    },
  },
};

const rawEvents = {
  token: {
    says: 'The token request has ended.',
    fields: { t, 'version?': version, status: 'number or null: HTTP status' },
  },
  upgrade: {
    says: 'The service answered the upgrade.',
    fields: { t, 'version?': version, status: 'number or null: HTTP status' },
  },
  frame: {
    says: 'A message, in either direction.',
    fields: {
      t,
      from,
      opcode: 'string: text, binary, ping or pong',
      bytes: 'number: its size',
      'text?': 'string: the text',
      'base64?': 'string: the binary message',
      'token?': 'boolean: it is the token, which is never printed',
    },
  },
  folded: {
    says: 'After `:fold on`: the binary messages of one second.',
    fields: { t, from, count: 'number: how many', bytes: 'number: bytes of all' },
  },
  skipped: {
    says: 'Lines are missing: they arrived faster than this output was read.',
    fields: { count: 'number: how many' },
  },
  close: {
    says: 'The stream has ended.',
    fields: {
      t,
      'version?': version,
      by: 'string: device or service',
      code: 'number: code of the close',
      reason: 'string: reason of the close',
    },
  },
};

/** A kind of line that `--json` prints. */
export interface JsonEvent {
  type: string;
  says: string;
  /** `type: meaning` by name; the name of an optional field ends with `?`. */
  fields: Readonly<Record<string, string>>;
}

/** The lines of one kind of command. */
export interface JsonStream {
  commands: readonly string[];
  /** Fields of every line. */
  common: Readonly<Record<string, string>>;
  events: readonly JsonEvent[];
}

/** What `--json` prints, by command. A failure of any command is a last line `error`. */
export const jsonStreams: readonly JsonStream[] = [
  { commands: ['stream'], common: { t }, events: eventsOf(sessionEvents) },
  {
    commands: ['stream --repeat'],
    common: {
      t,
      'run?': 'number: number of the run, from 1',
      'warmup?': 'boolean: a warm-up run, which does not count',
    },
    events: [
      {
        ...sessionEvents.summary,
        type: 'run',
        says: 'The summary of one run, with the fields of `summary`.',
      },
      ...eventsOf(repeatEvents).map((event) => ({ ...event, type: 'summary' })),
    ],
  },
  { commands: ['stream --interactive'], common: {}, events: eventsOf(rawEvents) },
  {
    commands: ['serve', 'replay', 'proxy', 'emulator journal'],
    common: {
      t,
      'level?': 'string: warning, if a developer should take a look',
      'instance?': 'string: which emulator, if several are one service',
      'from?': 'string: device or service, in a proxy',
      'side?': 'string: the earlier name of `from`',
      'seq?': 'number: its number in the journal',
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
        says: 'The last line: the result.',
        fields: {
          facts: 'object: the plan',
          counts: 'object: counts of sessions and tokens',
          failures: 'object: number of failures by kind',
          metrics: 'object: each metric with count, unfinished and its percentiles',
          thresholds: 'list: each threshold with its verdict',
          valid: 'boolean: whether the figures may be used',
          invalid: 'list: why they may not be used',
          lateMs: 'object: how late frames were sent and sessions started',
          generators: 'list: the processes that generated the load',
          shards: 'object: which shards it contains, and of how many',
          stopped: 'string or null: why it ended early',
          exitCode: 'number: exit code of the command',
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
        says: 'The last line: the command failed.',
        fields: {
          code: 'string: see errors',
          kind: 'string: see failures',
          exitCode: 'number: exit code of the command',
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
