import { dbfsText, silentDbfs } from '../audio/level.ts';
import { escapeText, jsonText } from '../kernel/escape.ts';
import { closeText } from '../protocol/close-codes.ts';
import { countText } from '../protocol/count-text.ts';
import { readError } from '../protocol/error-body.ts';
import type { ServiceMessage } from '../protocol/messages.ts';
import { secondsText } from '../protocol/time-text.ts';
import { readTranscript, type Spoken, spokenText } from '../protocol/transcript.ts';
import type { SessionEvent } from '../session/events.ts';
import { type EventWords, eventLine, type SaidWords, say } from './event-words.ts';
import { plainStyle, type Style } from './style.ts';
import { expectationRow, resultText, spreadText, summaryLines, summaryMsText } from './summary-lines.ts';

/** The lines that plain output prints for a session event. */
export function sessionLines(event: SessionEvent, style: Style): string[] {
  if (event.type === 'summary') return ['', ...summaryLines(event, style)];
  return [eventLine(describeSessionEvent(event), style)];
}

/** The transcript in a message of the service, if it is one. */
export function transcriptOf({
  category,
  kind,
  body,
}: SessionEvent & { type: 'message' }): Spoken | undefined {
  return readTranscript({ category: category as ServiceMessage['category'], kind, body });
}

/** Whether an event is a warning or an error, which `--quiet` prints too. A summary is a result, and neither. */
export function isWarning(event: SessionEvent): boolean {
  return event.type !== 'summary' && levelOf(event) !== 'info';
}

/** How serious an event is. */
function levelOf(event: SessionEvent): EventWords['level'] {
  switch (event.type) {
    case 'retry':
    case 'gap':
    case 'warning':
      return 'warning';
    case 'audio':
      return event.clipped ? 'warning' : 'info';
    case 'message':
      return isBadMessage(event) ? 'error' : 'info';
    case 'summary':
      return event.ok ? 'info' : 'error';
    default:
      return 'info';
  }
}

/** What an event of a session says. Text from outside is escaped for a terminal. */
export function describeSessionEvent(event: SessionEvent): EventWords {
  return { t: event.t, ...describe(event), level: levelOf(event) };
}

/** What each expectation in a summary says. */
export function describeExpectations({ t, verdicts }: SessionEvent & { type: 'summary' }): EventWords[] {
  return verdicts.map((verdict) => ({
    t,
    ...say('self', ...expectationRow(verdict, plainStyle)),
    level: verdict.ok ? 'info' : 'error',
  }));
}

function describe(event: SessionEvent): SaidWords {
  switch (event.type) {
    case 'session': {
      const { source, format, device, wsUrl, version } = event;
      const what = `${escapeText(source)} (${escapeText(format)}) as ${escapeText(device)}`;
      return say('self', 'session', `${what} to ${escapeText(wsUrl)}, voicectl ${escapeText(version)}`);
    }
    case 'state':
      return say('self', 'state', event.state);
    case 'retry': {
      const text = `next attempt in ${secondsText(event.delayMs, 1)}: ${escapeText(event.message)}`;
      return say('self', 'retry', text);
    }
    case 'token': {
      const when = event.ms === undefined ? 'granted' : `in ${event.ms} ms`;
      return say('service', 'token', `${when}${requestsLeftText(event.rateLimit)}`);
    }
    case 'message':
      return messageWords(event);
    case 'audio': {
      const { direction, frames, audioMs, peakDbfs, clipped } = event;
      const text = `${countText(frames, 'frame')}  ${secondsText(audioMs)}  ${peakText(peakDbfs)}`;
      const from = direction === 'out' ? 'device' : 'service';
      return say(from, 'audio', clipped ? `${text}, clipped` : text);
    }
    case 'speech': {
      const text = `${event.state === 'start' ? 'starts' : 'ends'} at ${secondsText(event.audioMs)} of the sent audio`;
      return say('device', 'speech', event.bargeIn ? `barge-in: ${text}` : text);
    }
    case 'turn': {
      const what = event.holdMs === undefined ? `turn ${event.turn}` : `sound ${event.turn}, not a turn,`;
      return say(
        'device',
        'turn',
        `${what} ${event.state === 'start' ? 'begins' : 'ends'} at ${secondsText(event.atMs)}`,
      );
    }
    case 'gap':
      return say('service', 'gap', `the reply paused for ${event.ms} ms`);
    case 'figures':
      return say('self', 'figures', figuresText(event));
    case 'warning': {
      const hint = event.hint === undefined ? '' : `. ${escapeText(event.hint)}`;
      const text = `${escapeText(event.message)}${hint}`;
      const short = event.hint === undefined ? undefined : escapeText(event.hint);
      return say(event.side ?? 'self', escapeText(event.code), text, short);
    }
    case 'close':
      return say(event.from ?? 'service', 'close', escapeText(closeText(event)));
    case 'summary':
      return say('self', 'result', resultText(event, plainStyle));
  }
}

function messageWords(event: SessionEvent & { type: 'message' }): SaidWords {
  const spoken = transcriptOf(event);
  if (spoken !== undefined) return say('service', 'transcript', escapeText(spokenText(spoken)));
  const { category, kind, body } = event;
  const text = typeof body === 'string' ? escapeText(body) : jsonText(body);
  const { code, message } = isBadMessage(event) ? readError(body) : {};
  const short = message === undefined ? undefined : escapeText([code, message].filter(Boolean).join(': '));
  return say('service', escapeText(kind ?? category), text, short);
}

function isBadMessage({ category }: SessionEvent & { type: 'message' }): boolean {
  return category === 'error' || category === 'malformed';
}

function figuresText(event: SessionEvent & { type: 'figures' }): string {
  return [
    `first audio ${summaryMsText(event.firstAudioMs)}`,
    `jitter ${spreadText(event.jitterMs)}`,
    `longest gap ${summaryMsText(event.longestGapMs)}`,
    `sent late ${spreadText(event.sendLatenessMs)}`,
    ...(event.playbackDelayMs === null
      ? []
      : [`heard after ${summaryMsText(event.playbackDelayMs)}`, `underruns ${event.underruns ?? 0}`]),
  ].join('; ');
}

function requestsLeftText(rate: (SessionEvent & { type: 'token' })['rateLimit']): string {
  if (rate?.limit === undefined && rate?.remaining === undefined) return '';
  return ` (${rate.remaining ?? '?'} of ${rate.limit ?? '?'} requests left)`;
}

/** How loud the loudest sample is. */
function peakText(peakDbfs: number): string {
  return peakDbfs <= silentDbfs ? 'silence' : `peak ${dbfsText(peakDbfs)}`;
}
