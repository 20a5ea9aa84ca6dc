import { escapeText, jsonText } from '../kernel/escape.ts';
import type { ServiceMessage } from '../protocol/messages.ts';
import { readTranscript, type Spoken, spokenText } from '../protocol/transcript.ts';
import type { SessionEvent } from '../session/events.ts';
import type { Style } from './style.ts';
import { msText, spreadText, summaryLines } from './summary-lines.ts';

/** The lines that plain output prints for a session event, if any. */
export function sessionLines(event: SessionEvent, style: Style): string[] {
  if (event.type === 'summary') return ['', ...summaryLines(event, style)];
  const text = describeEvent(event, style);
  return text === undefined ? [] : [`${style.dim(timeText(event.t))}  ${text}`];
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
  if (event.type === 'message') return event.category === 'error' || event.category === 'malformed';
  return event.type === 'warning' || event.type === 'retry';
}

/** `   1.234`: seconds since the session began. */
export function timeText(t: number): string {
  return (t / 1000).toFixed(3).padStart(8);
}

/** What happened, in one line without its time. Text from outside is escaped for a terminal. */
export function describeEvent(
  event: Exclude<SessionEvent, { type: 'summary' }>,
  style: Style,
): string | undefined {
  switch (event.type) {
    case 'session':
      return `${style.strong(`voicectl ${escapeText(event.version)}`)}  ${escapeText(event.source)} (${escapeText(event.format)}) as ${escapeText(event.device)} to ${escapeText(event.wsUrl)}`;
    case 'state':
      return `· ${event.state}`;
    case 'retry':
      return style.note(`! ${escapeText(event.message)}; again in ${(event.delayMs / 1000).toFixed(1)} s`);
    case 'token':
      return `← token${event.ms === undefined ? ' given' : ` in ${event.ms} ms`}${limitText(event.rateLimit)}`;
    case 'message':
      return messageText(event, style);
    case 'audio':
      return `${event.direction === 'out' ? '↑' : '↓'} ${event.frames} frames  ${(event.audioMs / 1000).toFixed(2)} s  ${peakText(event.peakDbfs)}`;
    case 'speech':
      return `· speech ${event.state === 'start' ? 'starts' : 'ends'} at ${(event.audioMs / 1000).toFixed(2)} s of the sent audio${event.bargeIn ? ', while the AI speaks' : ''}`;
    case 'gap':
      return style.note(`! the reply paused for ${event.ms} ms`);
    case 'figures':
      return `· ${figuresText(event)}`;
    case 'warning':
      return style.note(
        `! ${escapeText(event.message)}${event.hint === undefined ? '' : `. ${escapeText(event.hint)}`}`,
      );
    case 'close':
      return `← close ${event.code} ${escapeText(event.name)}${event.reason === '' ? '' : `: ${escapeText(event.reason)}`}`;
  }
}

function messageText(event: SessionEvent & { type: 'message' }, style: Style): string {
  const spoken = transcriptOf(event);
  if (spoken !== undefined) return `← transcript  ${escapeText(spokenText(spoken))}`;
  const { category, kind, body } = event;
  const text = `← ${escapeText(kind ?? category)}  ${typeof body === 'string' ? escapeText(body) : jsonText(body)}`;
  return category === 'error' || category === 'malformed' ? style.bad(text) : text;
}

function figuresText(event: SessionEvent & { type: 'figures' }): string {
  return [
    `first audio ${msText(event.firstAudioMs)}`,
    `jitter ${spreadText(event.jitterMs)}`,
    `longest gap ${msText(event.longestGapMs)}`,
    `sent late ${spreadText(event.sendLatenessMs)}`,
    ...(event.playbackDelayMs === null
      ? []
      : [`heard after ${msText(event.playbackDelayMs)}`, `under-runs ${event.underruns ?? 0}`]),
  ].join('; ');
}

function limitText(rate: (SessionEvent & { type: 'token' })['rateLimit']): string {
  if (rate?.limit === undefined && rate?.remaining === undefined) return '';
  return `  (${rate.remaining ?? '?'} of ${rate.limit ?? '?'} requests left)`;
}

/** Below this there is nothing but zeros. */
export const silentDbfs = -99;

/** How loud the loudest sample is. */
export function peakText(peakDbfs: number): string {
  return peakDbfs <= silentDbfs ? 'silence' : `peak ${peakDbfs.toFixed(1)} dBFS`;
}
