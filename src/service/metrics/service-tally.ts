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
  const requests = createCount('voicectl_requests', 'Requests by outcome: token or refused', ['outcome']);
  const refusals = createCount('voicectl_refusals', 'Requests that were refused, by cause', ['cause']);
  const problems = createCount('voicectl_token_problems', 'Tokens that a stream did not accept, by cause', [
    'cause',
  ]);
  const opened = createCount('voicectl_streams_opened', 'Streams that were opened');
  const authorised = createCount('voicectl_streams_authorised', 'Streams whose token was accepted');
  const closed = createCount(
    'voicectl_streams_closed',
    'Streams that have ended, by the cause if the service ended them',
    ['cause'],
  );
  const turns = createCount('voicectl_turns', 'Turns of users that have ended');
  const replies = createCount('voicectl_replies', 'Replies that have begun');
  const bargeIns = createCount('voicectl_barge_ins', 'Replies that the user interrupted');
  const failed = createCount('voicectl_reply_failures', 'Replies that failed');
  const findings = createCount('voicectl_findings', 'Findings in the audio of a side, by kind', [
    'side',
    'kind',
  ]);
  const violations = createCount('voicectl_violations', 'Rules that a side broke, once per stream', [
    'side',
    'rule',
  ]);
  const faults = createCount('voicectl_faults_struck', 'Faults that struck, by name', ['fault']);
  const bugs = createCount('voicectl_bugs', 'Handlers of voicectl that threw');
  const firstAudio = createTimeClasses();
  const tokenTimes = createTimeClasses();
  const passed: OpenTotals = { framesIn: 0, bytesIn: 0, framesOut: 0, bytesOut: 0 };
  const devices = byDevice ? createDeviceTally() : undefined;
  /** When the last turn of a stream has ended, while its reply has not begun. */
  const waiting = new Map<number, number>();
  /** What was found in each open stream. */
  const known = new Map<number, Set<string>>();
  let openStreams = 0;

  const found = (stream: number, side: Side, kind: string) => {
    findings.add([side, kind]);
    const kinds = known.get(stream) ?? new Set();
    known.set(stream, kinds.add(`${side} ${kind}`));
  };
  const foundOnce = (stream: number, side: Side, kind: string) => {
    if (known.get(stream)?.has(`${side} ${kind}`) !== true) found(stream, side, kind);
  };
  const take = (event: EmulatorEvent): void => {
    switch (event.type) {
      case 'token-issued':
        requests.add(['token']);
        if (event.ms !== undefined) tokenTimes.add(event.ms);
        break;
      case 'request-refused':
        requests.add(['refused'], event.count);
        refusals.add([event.cause], event.count);
        break;
      case 'token-problem':
        problems.add([event.cause]);
        break;
      case 'stream-opened':
        openStreams += 1;
        opened.add([]);
        break;
      case 'stream-authorised':
        authorised.add([]);
        break;
      case 'stream-closed':
        openStreams -= 1;
        // A short stream has no verdict before.
        for (const kind of event.findings) foundOnce(event.stream, 'device', kind);
        known.delete(event.stream);
        closed.add([event.cause ?? 'none']);
        waiting.delete(event.stream);
        for (const name of passedNames) passed[name] += event[name];
        break;
      case 'turn-ended':
        turns.add([]);
        waiting.set(event.stream, clock.now() - event.agoMs);
        break;
      case 'reply-started': {
        replies.add([]);
        const since = waiting.get(event.stream);
        if (since !== undefined) firstAudio.add(clock.now() - (event.agoMs ?? 0) - since);
        waiting.delete(event.stream);
        break;
      }
      case 'reply-ended':
        if (event.bargeIn) bargeIns.add([]);
        break;
      case 'reply-failed':
        failed.add([]);
        break;
      case 'device-finding':
      case 'service-finding':
        found(event.stream, event.type === 'device-finding' ? 'device' : 'service', event.finding);
        break;
      case 'device-verdict':
      case 'service-verdict':
        // Findings about the pace are only in the verdict.
        for (const kind of event.findings)
          foundOnce(event.stream, event.type === 'device-verdict' ? 'device' : 'service', kind);
        break;
      case 'violation':
        violations.add([event.from, event.rule]);
        break;
      case 'fault-struck':
        faults.add([event.fault]);
        break;
      case 'bug':
        bugs.add([]);
        break;
    }
    devices?.take(event);
  };
  events.subscribe(take);

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
        ...[requests, refusals, problems, opened, authorised, closed].map((count) => count.family()),
        gauge('voicectl_streams_open', 'Streams that are open', openStreams),
        ...[turns, replies, bargeIns, failed, findings, violations, faults, bugs].map((count) =>
          count.family(),
        ),
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
        both('voicectl_stream_bytes', 'Audio that has passed, in bytes', 'bytesIn', 'bytesOut'),
        both('voicectl_stream_messages', 'Audio messages that have passed', 'framesIn', 'framesOut'),
        ...(devices?.families() ?? []),
      ];
    },
  };
}

const passedNames = ['framesIn', 'bytesIn', 'framesOut', 'bytesOut'] as const;

/** Counts by device, for a bounded number of them. */
function createDeviceTally() {
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
    take(event: EmulatorEvent) {
      if (event.type === 'token-issued') tokens.add([nameOf(event.device)]);
      else if (event.type === 'stream-authorised') streams.add([nameOf(event.device)]);
      else if (event.type === 'request-refused' && event.device !== undefined)
        refused.add([nameOf(event.device)], event.count);
    },
    families: () => [tokens, refused, streams].map((count) => count.family()),
  };
}
