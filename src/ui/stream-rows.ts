import { escapeText, jsonText } from '../kernel/escape.ts';
import { spokenText } from '../protocol/transcript.ts';
import { peakText, transcriptOf } from '../report/session-lines.ts';
import type { SessionEvent } from '../session/events.ts';
import type { NewRow } from './event-list.ts';

/** The rows of the event list for an event; none if a panel shows it. */
export function streamRows(event: SessionEvent): NewRow[] {
  const row = (
    direction: NewRow['direction'],
    kind: string,
    text: string,
    mark?: NewRow['mark'],
  ): NewRow[] => [
    { t: event.t, direction, kind: escapeText(kind), text, event, ...(mark === undefined ? {} : { mark }) },
  ];
  switch (event.type) {
    case 'session':
      return row(
        'self',
        'session',
        `${escapeText(event.source)} as ${escapeText(event.device)}, ${event.format}`,
      );
    case 'state':
      return row('self', 'state', event.state);
    case 'retry':
      return row(
        'self',
        'retry',
        `${escapeText(event.message)}; again in ${seconds(event.delayMs, 1)}`,
        'warning',
      );
    case 'token':
      return row('in', 'token', event.ms === undefined ? 'given' : `after ${event.ms} ms`);
    case 'message': {
      const spoken = transcriptOf(event);
      if (spoken !== undefined) return row('in', 'transcript', escapeText(spokenText(spoken)));
      const isBad = event.category === 'error' || event.category === 'malformed';
      const text = typeof event.body === 'string' ? escapeText(event.body) : jsonText(event.body);
      return row('in', event.kind ?? event.category, text, isBad ? 'error' : undefined);
    }
    case 'audio': {
      const clipped = event.clipped ? ', clipped' : '';
      const text = `${event.frames} frames  ${seconds(event.audioMs, 2)}  ${peakText(event.peakDbfs)}${clipped}`;
      return row(event.direction, 'audio', text, event.clipped ? 'warning' : undefined);
    }
    case 'speech': {
      const where = `at ${seconds(event.audioMs, 2)} of the sent audio`;
      if (event.bargeIn) return row('self', 'speech', `barge-in: starts over the AI ${where}`);
      return row('self', 'speech', `${event.state === 'start' ? 'starts' : 'ends'} ${where}`);
    }
    case 'gap':
      return row('in', 'gap', `the reply paused for ${event.ms} ms`, 'warning');
    case 'warning':
      return row('self', event.code, escapeText(event.message), 'warning');
    case 'close':
      return row(
        'in',
        'close',
        `${event.code} ${event.name}${event.reason === '' ? '' : `: ${escapeText(event.reason)}`}`,
      );
    case 'summary':
      return [
        ...event.verdicts.flatMap(({ name, ok, expected, measured }) =>
          row(
            'self',
            name,
            `${ok ? 'pass' : 'FAIL'}: expected ${escapeText(expected)}, measured ${escapeText(measured)}`,
            ok ? undefined : 'error',
          ),
        ),
        ...row(
          'self',
          'summary',
          `${event.ok ? 'ok' : 'failed'} in ${seconds(event.elapsedMs, 1)}`,
          event.ok ? undefined : 'error',
        ),
      ];
    case 'figures':
      return [];
  }
}

function seconds(ms: number, digits: number): string {
  return `${(ms / 1000).toFixed(digits)} s`;
}
