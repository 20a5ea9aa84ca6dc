import { escapeText, jsonText } from '../kernel/escape.ts';
import type { ServiceMessage } from '../protocol/messages.ts';
import { readTranscript, type Spoken, spokenText } from '../protocol/transcript.ts';
import type { SessionEvent } from '../session/events.ts';
import {
  countText,
  type EventWords,
  eventLine,
  sayError,
  sayInfo,
  sayWarning,
  secondsText,
} from './event-words.ts';
import { createStyle, type Style } from './style.ts';
import { expectationText, resultText, spreadText, summaryLines, summaryMsText } from './summary-lines.ts';

type Said = ReturnType<typeof sayInfo>;

const plain = createStyle(false);

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

/** Whether an event is a warning or an error, which `--quiet` prints too. */
export function isWarning(event: SessionEvent): boolean {
  if (event.type === 'message') return isBadMessage(event);
  return event.type === 'warning' || event.type === 'retry';
}

/** What an event of a session says. Text from outside is escaped for a terminal. */
export function describeSessionEvent(event: SessionEvent): EventWords {
  return { t: event.t, ...describe(event) };
}

/** What each expectation in a summary says. */
export function describeExpectations({ t, verdicts }: SessionEvent & { type: 'summary' }): EventWords[] {
  return verdicts.map((verdict) => ({
    t,
    ...(verdict.ok ? sayInfo : sayError)('self', escapeText(verdict.name), expectationText(verdict, plain)),
  }));
}

function describe(event: SessionEvent): Said {
  switch (event.type) {
    case 'session': {
      const { source, format, device, wsUrl, version } = event;
      const what = `${escapeText(source)} (${escapeText(format)}) as ${escapeText(device)}`;
      return sayInfo('self', 'session', `${what} to ${escapeText(wsUrl)}, voicectl ${escapeText(version)}`);
    }
    case 'state':
      return sayInfo('self', 'state', event.state);
    case 'retry': {
      const text = `next attempt in ${secondsText(event.delayMs, 1)}: ${escapeText(event.message)}`;
      return sayWarning('self', 'retry', text);
    }
    case 'token': {
      const when = event.ms === undefined ? 'given' : `in ${event.ms} ms`;
      return sayInfo('service', 'token', `${when}${requestsLeftText(event.rateLimit)}`);
    }
    case 'message':
      return messageWords(event);
    case 'audio': {
      const { direction, frames, audioMs, peakDbfs, clipped } = event;
      const text = `${countText(frames, 'frame')}  ${secondsText(audioMs)}  ${peakText(peakDbfs)}`;
      const from = direction === 'out' ? 'device' : 'service';
      return clipped ? sayWarning(from, 'audio', `${text}, clipped`) : sayInfo(from, 'audio', text);
    }
    case 'speech': {
      const text = `${event.state === 'start' ? 'starts' : 'ends'} at ${secondsText(event.audioMs)} of the sent audio`;
      return sayInfo('device', 'speech', event.bargeIn ? `barge-in: ${text}` : text);
    }
    case 'gap':
      return sayWarning('service', 'gap', `the reply paused for ${event.ms} ms`);
    case 'figures':
      return sayInfo('self', 'figures', figuresText(event));
    case 'warning': {
      const hint = event.hint === undefined ? '' : `. ${escapeText(event.hint)}`;
      return sayWarning(event.side ?? 'self', escapeText(event.code), `${escapeText(event.message)}${hint}`);
    }
    case 'close': {
      const reason = event.reason === '' ? '' : `: ${escapeText(event.reason)}`;
      return sayInfo('service', 'close', `${event.code} ${escapeText(event.name)}${reason}`);
    }
    case 'summary':
      return (event.ok ? sayInfo : sayError)('self', 'result', resultText(event, plain));
  }
}

function messageWords(event: SessionEvent & { type: 'message' }): Said {
  const spoken = transcriptOf(event);
  if (spoken !== undefined) return sayInfo('service', 'transcript', escapeText(spokenText(spoken)));
  const { category, kind, body } = event;
  const text = typeof body === 'string' ? escapeText(body) : jsonText(body);
  return (isBadMessage(event) ? sayError : sayInfo)('service', escapeText(kind ?? category), text);
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
      : [`heard after ${summaryMsText(event.playbackDelayMs)}`, `under-runs ${event.underruns ?? 0}`]),
  ].join('; ');
}

function requestsLeftText(rate: (SessionEvent & { type: 'token' })['rateLimit']): string {
  if (rate?.limit === undefined && rate?.remaining === undefined) return '';
  return ` (${rate.remaining ?? '?'} of ${rate.limit ?? '?'} requests left)`;
}

/** Below this there is nothing but zeros. */
export const silentDbfs = -99;

/** How loud the loudest sample is. */
export function peakText(peakDbfs: number): string {
  return peakDbfs <= silentDbfs ? 'silence' : `peak ${peakDbfs.toFixed(1)} dBFS`;
}
