import { escapeText, jsonText } from '../kernel/escape.ts';
import { awayText, closeText, timesText, verdictText } from '../report/emulator-lines.ts';
import type { EmulatorEvent } from '../service/events.ts';
import type { NewRow } from './event-list.ts';

/** The row of the journal for an event. */
export function serveRow(event: EmulatorEvent): NewRow {
  const { direction, kind, text, mark } = describe(event);
  return {
    t: event.t,
    direction,
    kind,
    text,
    event,
    ...(mark === undefined ? {} : { mark }),
    ...('device' in event && event.device !== undefined ? { device: event.device } : {}),
    ...('stream' in event && event.stream !== undefined ? { stream: event.stream } : {}),
  };
}

type Described = Pick<NewRow, 'direction' | 'kind' | 'text'> & { mark?: NewRow['mark'] };

function describe(event: EmulatorEvent): Described {
  switch (event.type) {
    case 'listening':
      return { direction: 'self', kind: 'listening', text: event.baseUrl };
    case 'tls-failed':
      return {
        direction: 'in',
        kind: 'tls',
        text: `${escapeText(event.remote)}: ${escapeText(event.why)}`,
        mark: 'warning',
      };
    case 'tls-opened':
      return {
        direction: 'in',
        kind: 'tls',
        text: `${escapeText(event.remote)}: ${escapeText(event.protocol)}`,
      };
    case 'token-issued':
      return { direction: 'out', kind: 'token', text: `${event.remaining} left in the window` };
    case 'request-refused':
      return {
        direction: 'out',
        kind: 'refused',
        text: `${event.status} ${escapeText(event.code)}: ${escapeText(event.message)}${event.why === undefined ? '' : `: ${escapeText(event.why)}`}${timesText(event)}`,
        mark: 'warning',
      };
    case 'token-problem':
      return {
        direction: 'in',
        kind: 'token',
        text: `${escapeText(event.why)}: ${escapeText(event.advice)}`,
        mark: 'warning',
      };
    case 'stream-opened':
      return { direction: 'in', kind: 'opened', text: `from ${escapeText(event.remote)}` };
    case 'stream-authorised':
      return { direction: 'in', kind: 'authorised', text: `${event.connections} connected` };
    case 'message-sent':
      return { direction: 'out', kind: kindOf(event.body), text: jsonText(event.body) };
    case 'text-received':
      return {
        direction: 'in',
        kind: 'text',
        text: `${event.bytes} bytes after the token${timesText(event)}`,
        mark: 'warning',
      };
    case 'turn-started':
      return { direction: 'in', kind: 'turn', text: `speech starts at ${seconds(event.atMs)}` };
    case 'turn-ended':
      return { direction: 'in', kind: 'turn', text: `ends, after ${seconds(event.turnMs)} of speech` };
    case 'reply-started':
      return { direction: 'out', kind: 'reply', text: 'starts' };
    case 'reply-failed':
      return { direction: 'out', kind: 'reply', text: escapeText(event.why), mark: 'error' };
    case 'reply-ended':
      return { direction: 'out', kind: 'reply', text: event.bargeIn ? 'barge-in: the user speaks' : 'ends' };
    case 'fault-struck':
      return { direction: 'out', kind: 'fault', text: event.fault, mark: 'warning' };
    case 'device-finding':
      return {
        direction: event.side === 'service' ? 'out' : 'in',
        kind: 'finding',
        text: event.remark,
        mark: 'warning',
      };
    case 'device-verdict':
      return {
        direction: event.side === 'service' ? 'out' : 'in',
        kind: 'pace',
        text: verdictText(event),
        ...(event.remarks.length > 0 ? { mark: 'warning' as const } : {}),
      };
    case 'stream-closed':
      return {
        direction: 'self',
        kind: 'closed',
        text: closedText(event),
        ...(event.code > goodCloses ? { mark: 'warning' as const } : {}),
      };
    case 'control':
      return { direction: 'self', kind: 'control', text: escapeText(event.what) };
    case 'violation':
    case 'remark':
      return {
        direction: event.side === 'device' ? 'in' : 'out',
        kind: event.rule,
        text: `${escapeText(event.message)}: ${escapeText(event.value)}`,
        mark: event.type === 'violation' ? 'error' : 'warning',
      };
    case 'shared-away':
      return {
        direction: 'self',
        kind: 'shared',
        text: `away: ${awayText(event)}`,
        mark: 'error',
      };
    case 'shared-back':
      return { direction: 'self', kind: 'shared', text: `back after ${seconds(event.awayMs)}` };
    case 'shared-warning':
      return { direction: 'self', kind: 'shared', text: escapeText(event.why), mark: 'warning' };
    case 'recording-failed':
      return { direction: 'self', kind: 'recording', text: escapeText(event.why), mark: 'warning' };
    case 'stopping':
      return { direction: 'self', kind: 'stopping', text: '' };
  }
}

/** 1000 and 1001: a normal end, or one side goes away. */
const goodCloses = 1001;

function closedText(event: EmulatorEvent & { type: 'stream-closed' }): string {
  const { reason, durationMs, framesIn, framesOut, remarks } = event;
  const why = reason === '' ? '' : ` ${escapeText(reason)}`;
  const counts = `in ${framesIn}, out ${framesOut} frames`;
  return [`${closeText(event)}${why} after ${seconds(durationMs)}, ${counts}`, ...remarks].join('; ');
}

/** The kind that the message names, if any. */
function kindOf(body: unknown): string {
  const kind = typeof body === 'object' && body !== null ? Object.values(body)[0] : undefined;
  return typeof kind === 'string' ? escapeText(kind) : 'message';
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
