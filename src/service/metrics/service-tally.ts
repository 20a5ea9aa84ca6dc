import type { Clock } from '../../kernel/clock.ts';
import { escapeText } from '../../kernel/escape.ts';
import { shortText } from '../../kernel/short-text.ts';
import type { Side } from '../../wire/exchange.ts';
import type { EmulatorEvent, EmulatorEvents, StreamTotals } from '../events.ts';
import { createCount, createTimeClasses, gauge, type MetricFamily } from './family.ts';

/** What an open stream has carried so far. */
export type OpenTotals = Pick<StreamTotals, 'framesIn' | 'bytesIn' | 'framesOut' | 'bytesOut'>;

/** The metrics of a service, counted from its events: the same that the journal has. */
export interface ServiceTally {
  /** `open`: the streams that are open now. */
  families(open: readonly OpenTotals[]): MetricFamily[];
}

/** Devices with series of their own; all others are one. */
const mostDevices = 1_000;
const otherDevices = 'other devices';

/** `byDevice`: whether devices are named. `clock`: the machine's, because audio follows it. */
export function createServiceTally(
  events: Pick<EmulatorEvents, 'subscribe'>,
  { byDevice, clock }: { byDevice: boolean; clock: Pick<Clock, 'now'> },
): ServiceTally {
  const parts = [
    createEventCounts(),
    createFindingTally(),
    createTimeTally(clock),
    ...(byDevice ? [createDeviceTally()] : []),
  ];
  const passed: OpenTotals = { framesIn: 0, bytesIn: 0, framesOut: 0, bytesOut: 0 };
  let openStreams = 0;
  events.subscribe((event) => {
    for (const part of parts) part.count(event);
    if (event.type === 'stream-opened') openStreams += 1;
    if (event.type !== 'stream-closed') return;
    openStreams -= 1;
    for (const name of passedNames) passed[name] += event[name];
  });

  return {
    families(open) {
      const total = (name: keyof OpenTotals) => open.reduce((sum, one) => sum + one[name], passed[name]);
      const both = (
        name: string,
        help: string,
        from: keyof OpenTotals,
        to: keyof OpenTotals,
      ): MetricFamily => ({
        ...{ name, help, type: 'counter' },
        samples: [
          { labels: { direction: 'from_device' }, value: total(from) },
          { labels: { direction: 'to_device' }, value: total(to) },
        ],
      });
      return [
        gauge('voicectl_streams_open', 'Streams that are open', openStreams),
        both('voicectl_stream_bytes', 'Audio in bytes, by direction', 'bytesIn', 'bytesOut'),
        both('voicectl_stream_messages', 'Audio messages, by direction', 'framesIn', 'framesOut'),
        ...parts.flatMap((part) => part.families()),
      ];
    },
  };
}

const passedNames = ['framesIn', 'bytesIn', 'framesOut', 'bytesOut'] as const;

/** A part of the tally, with metrics of its own. */
interface TallyPart {
  count(event: EmulatorEvent): void;
  families(): MetricFamily[];
}

/** The events that a metric counts, each with the values of its labels; undefined: that one does not count. */
type CountedEvents = {
  [Type in EmulatorEvent['type']]?: (
    event: Extract<EmulatorEvent, { type: Type }>,
  ) => readonly string[] | undefined;
};

const countRows: readonly { name: string; help: string; labels?: readonly string[]; of: CountedEvents }[] = [
  {
    name: 'voicectl_requests',
    help: 'Requests by outcome: token or refused',
    labels: ['outcome'],
    of: { 'token-issued': () => ['token'], 'request-refused': () => ['refused'] },
  },
  {
    name: 'voicectl_refusals',
    help: 'Requests that were refused, by cause',
    labels: ['cause'],
    of: { 'request-refused': ({ cause }) => [cause] },
  },
  {
    name: 'voicectl_token_problems',
    help: 'Tokens that a stream did not accept, by cause',
    labels: ['cause'],
    of: { 'token-problem': ({ cause }) => [cause] },
  },
  {
    name: 'voicectl_streams_opened',
    help: 'Streams that were opened',
    of: { 'stream-opened': () => [] },
  },
  {
    name: 'voicectl_streams_authorised',
    help: 'Streams whose token was accepted',
    of: { 'stream-authorised': () => [] },
  },
  {
    name: 'voicectl_streams_closed',
    help: 'Streams that have ended, by cause: none if the service did not end them',
    labels: ['cause'],
    of: { 'stream-closed': ({ cause }) => [cause ?? 'none'] },
  },
  { name: 'voicectl_turns', help: 'Turns of users that have ended', of: { 'turn-ended': () => [] } },
  { name: 'voicectl_replies', help: 'Replies that have begun', of: { 'reply-started': () => [] } },
  {
    name: 'voicectl_barge_ins',
    help: 'Replies that the user interrupted',
    of: { 'reply-ended': ({ bargeIn }) => (bargeIn ? [] : undefined) },
  },
  { name: 'voicectl_reply_failures', help: 'Replies that failed', of: { 'reply-failed': () => [] } },
  {
    name: 'voicectl_violations',
    help: 'Rules that a side broke, once per stream',
    labels: ['side', 'rule'],
    of: { violation: ({ from, rule }) => [from, rule] },
  },
  {
    name: 'voicectl_faults_struck',
    help: 'Faults that struck, by name',
    labels: ['fault'],
    of: { 'fault-struck': ({ fault }) => [fault] },
  },
  { name: 'voicectl_bugs', help: 'Internal errors of voicectl', of: { bug: () => [] } },
];

function createEventCounts(): TallyPart {
  const rows = countRows.map(({ name, help, labels, of }) => ({
    counts: createCount(name, help, labels),
    of: of as Readonly<Record<string, ((event: EmulatorEvent) => readonly string[] | undefined) | undefined>>,
  }));
  return {
    count(event) {
      for (const { counts, of } of rows) {
        const values = of[event.type]?.(event);
        if (values !== undefined) counts.add(values, event.type === 'request-refused' ? event.count : 1);
      }
    },
    families: () => rows.map(({ counts }) => counts.family()),
  };
}

function createFindingTally(): TallyPart {
  const findings = createCount('voicectl_findings', 'Findings in the audio of a side, by kind', [
    'side',
    'kind',
  ]);
  /** What was found in each open stream. */
  const known = new Map<number, Set<string>>();
  const found = (stream: number, side: Side, kind: string) => {
    findings.add([side, kind]);
    const kinds = known.get(stream) ?? new Set();
    known.set(stream, kinds.add(`${side} ${kind}`));
  };
  const foundOnce = (stream: number, side: Side, kinds: readonly string[]) => {
    for (const kind of kinds)
      if (known.get(stream)?.has(`${side} ${kind}`) !== true) found(stream, side, kind);
  };
  return {
    count(event) {
      switch (event.type) {
        case 'device-finding':
          return found(event.stream, 'device', event.finding);
        case 'service-finding':
          return found(event.stream, 'service', event.finding);
        // Findings about the pace are only in the verdict.
        case 'device-verdict':
          return foundOnce(event.stream, 'device', event.findings);
        case 'service-verdict':
          return foundOnce(event.stream, 'service', event.findings);
        case 'stream-closed':
          // A short stream has no verdict before.
          foundOnce(event.stream, 'device', event.findings);
          known.delete(event.stream);
      }
    },
    families: () => [findings.family()],
  };
}

/** How long tokens and replies take. */
function createTimeTally(clock: Pick<Clock, 'now'>): TallyPart {
  const firstAudio = createTimeClasses();
  const tokenTimes = createTimeClasses();
  /** When the last turn of a stream has ended, while its reply has not begun. */
  const waiting = new Map<number, number>();
  /** When a reply has begun that no turn awaited: it is known at once, but the end of its turn only after a pause. */
  const unawaited = new Map<number, number>();
  const turnEnded = (stream: number, endedAt: number) => {
    const repliedAt = unawaited.get(stream);
    unawaited.delete(stream);
    if (repliedAt === undefined || repliedAt < endedAt) waiting.set(stream, endedAt);
    else firstAudio.add(repliedAt - endedAt);
  };
  const replyStarted = (stream: number, startedAt: number) => {
    const since = waiting.get(stream);
    waiting.delete(stream);
    if (since === undefined) unawaited.set(stream, startedAt);
    else firstAudio.add(startedAt - since);
  };
  return {
    count(event) {
      if (event.type === 'token-issued' && event.ms !== undefined) tokenTimes.add(event.ms);
      // Nobody replies any more to the turn before.
      else if (event.type === 'turn-started') waiting.delete(event.stream);
      else if (event.type === 'turn-ended') turnEnded(event.stream, clock.now() - event.agoMs);
      else if (event.type === 'reply-started') replyStarted(event.stream, clock.now() - (event.agoMs ?? 0));
      else if (event.type === 'stream-closed') {
        waiting.delete(event.stream);
        unawaited.delete(event.stream);
      }
    },
    families: () => [
      {
        name: 'voicectl_first_audio_seconds',
        help: 'From the end of a turn to the first audio of its reply',
        type: 'histogram',
        samples: firstAudio.samples(),
      },
      {
        name: 'voicectl_token_duration_seconds',
        help: 'From a token request to the answer with the token',
        type: 'histogram',
        samples: tokenTimes.samples(),
      },
    ],
  };
}

/** Counts by device, for a bounded number of them. */
function createDeviceTally(): TallyPart {
  const names = new Set<string>();
  const tokens = createCount('voicectl_device_tokens', 'Tokens that were issued to a device', ['device']);
  const refused = createCount('voicectl_device_refusals', 'Requests of a device that were refused', [
    'device',
  ]);
  const streams = createCount(
    'voicectl_device_streams_authorised',
    'Streams of a device whose token was accepted',
    ['device'],
  );
  const nameOf = (device: string) => {
    const name = escapeText(shortText(device));
    if (names.size < mostDevices) names.add(name);
    return names.has(name) ? name : otherDevices;
  };
  return {
    count(event) {
      if (event.type === 'token-issued') tokens.add([nameOf(event.device)]);
      else if (event.type === 'stream-authorised') streams.add([nameOf(event.device)]);
      else if (event.type === 'request-refused' && event.device !== undefined)
        refused.add([nameOf(event.device)], event.count);
    },
    families: () => [tokens, refused, streams].map((count) => count.family()),
  };
}
