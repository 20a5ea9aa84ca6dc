import type { VoiceVerdict } from '../audio/verdict/voice-check.ts';
import { escapeText, jsonText } from '../kernel/escape.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import type { EmulatorEvent, Judgement } from '../service/events.ts';
import { timeText } from './session-lines.ts';
import type { Style } from './style.ts';

/** An emulator event as lines for people. */
export function emulatorLines(event: EmulatorEvent, style: Style): string[] {
  const text = describe(event, style);
  if (text === undefined) return [];
  const marked = event.level === 'warning' ? style.note(`! warning: ${text.replace(/^\S /, '')}`) : text;
  const from = event.instance === undefined ? '' : `${style.dim(escapeText(event.instance))}  `;
  return [`${style.dim(timeText(event.t))}  ${from}${marked}`];
}

function describe(event: EmulatorEvent, style: Style): string | undefined {
  switch (event.type) {
    case 'token-issued':
      return `→ token for ${escapeText(event.device)} (${event.remaining} left)`;
    case 'request-refused':
      return `→ ${event.status} ${escapeText(event.code)}: ${escapeText(event.message)}${about(event)}${more(event)}${timesText(event)}`;
    case 'tls-failed':
      return `→ TLS with ${escapeText(event.remote)} failed: ${escapeText(event.why)}`;
    case 'token-problem':
      return `← stream ${event.stream}  ${escapeText(event.why)}: ${escapeText(event.advice)}${about(event)}`;
    case 'stream-opened':
      return `· stream ${event.stream} opened from ${escapeText(event.remote)}`;
    case 'stream-authorised':
      return `· stream ${event.stream} is ${escapeText(event.device)} (${event.connections} connected)`;
    case 'message-sent':
      return `→ stream ${event.stream}  ${jsonText(event.body)}`;
    case 'text-received':
      return `← stream ${event.stream}  text of ${event.bytes} bytes after the token${timesText(event)}`;
    case 'turn-started':
      return `← stream ${event.stream}  speech starts at ${seconds(event.atMs)}`;
    case 'turn-ended':
      return `← stream ${event.stream}  speech ends at ${seconds(event.atMs)}, a turn of ${seconds(event.turnMs)}`;
    case 'reply-started':
      return `→ stream ${event.stream}  reply starts`;
    case 'reply-failed':
      return style.bad(`! stream ${event.stream}  ${escapeText(event.why)}`);
    case 'reply-ended':
      return `→ stream ${event.stream}  reply ${event.bargeIn ? 'stopped: the user speaks' : 'ends'}`;
    case 'fault-struck': {
      const where = event.stream === undefined ? '' : ` on stream ${event.stream}`;
      return style.note(`! fault ${escapeText(event.fault)}${where}${about(event)}`);
    }
    case 'device-finding':
      return `! stream ${event.stream}  ${escapeText(event.remark)}${about(event)}`;
    case 'device-verdict':
      return `${event.side === 'service' ? '→' : '←'} stream ${event.stream}  ${escapeText(verdictText(event))}${about(event)}`;
    case 'stream-closed':
      return closedText(event);
    case 'control':
      return `· control  ${escapeText(event.what)}${onStreams(event.streams)}`;
    case 'violation':
    case 'remark':
      return judgementText(event);
    case 'shared-away':
      return `! the shared state is away: ${awayText(event)}`;
    case 'shared-back':
      return `· the shared state is back after ${seconds(event.awayMs)}`;
    case 'shared-warning':
      return `! ${escapeText(event.why)}`;
    case 'recording-failed':
      return `! stream ${event.stream} is no longer recorded: ${escapeText(event.why)}`;
    case 'stopping':
      return '· stopping';
    case 'listening':
    case 'tls-opened':
      return undefined;
  }
}

/** Why the shared state cannot be reached, and what follows. */
export function awayText({ why }: Extract<EmulatorEvent, { type: 'shared-away' }>): string {
  return `${escapeText(why)}; tokens and streams are refused`;
}

/** `! device breaks D4 on stream 3 (sends no audio before the confirmation): audio came 0.2 s before…` */
export function judgementText(event: Judgement): string {
  const { type, side, rule, message, value, stream, device } = event;
  const verb = type === 'violation' ? 'breaks' : 'is unusual in';
  const where = stream === undefined ? '' : ` on stream ${stream}`;
  return `! ${side} ${verb} ${rule}${where} (${escapeText(message)}): ${escapeText(value)}${about(device === undefined ? {} : { device })}`;
}

/** Whom or what an event is about: the device, or the path that was asked for, and the address. */
function about({ device, path, remote }: { device?: string; path?: string; remote?: string }): string {
  const subject = [device ?? path, remote].filter((one) => one !== undefined && one !== '');
  return subject.length === 0 ? '' : ` (${subject.map((one) => escapeText(one ?? '')).join(', ')})`;
}

/** What a side does wrong in time, or that it does nothing wrong. In a proxy, which side it is. */
export function verdictText({
  pace,
  remarks,
  side,
}: Pick<VoiceVerdict, 'remarks'> & {
  pace: Pick<VoiceVerdict['pace'], 'timesRealTime' | 'meanJitterMs'>;
  side?: 'device' | 'service';
}): string {
  if (remarks.length > 0) return remarks.join('; ');
  return `${side === undefined ? '' : `${side} `}sends ${pace.timesRealTime} × real time, jitter ${pace.meanJitterMs} ms`;
}

function more({ why }: { why?: string }): string {
  return why === undefined ? '' : `: ${escapeText(why)}`;
}

function closedText(event: EmulatorEvent & { type: 'stream-closed' }): string {
  const { stream, reason, framesIn, bytesIn, framesOut, bytesOut } = event;
  const why = reason === '' ? '' : ` ${escapeText(reason)}`;
  const heard = `in ${framesIn} frames ${bytesIn} bytes, out ${framesOut} frames ${bytesOut} bytes`;
  const unjudged = event.unjudged === undefined ? '' : `; ${event.unjudged} messages passed on unjudged`;
  const remarks = event.remarks.map((remark) => `; ${escapeText(remark)}`).join('');
  return `· stream ${stream} closed ${closeText(event)}${why}: ${seconds(event.durationMs)}, ${heard}${unjudged}${remarks}`;
}

/** The code that was sent, and what the peer answered where that is not the same. */
export function closeText({ code, sentCode }: { code: number; sentCode?: number }): string {
  if (sentCode === undefined || sentCode === code) return String(code);
  return `${sentCode}, answered with ${code === closeCodes.abnormal ? 'nothing' : code},`;
}

function onStreams(streams: readonly number[] | undefined): string {
  if (streams === undefined || streams.length === 0) return '';
  return ` (${streams.length === 1 ? 'stream' : 'streams'} ${streams.join(', ')})`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** How many events of a flood one stands for. */
export function timesText({ count }: { count?: number }): string {
  return count === undefined ? '' : `, ${count} more times`;
}
