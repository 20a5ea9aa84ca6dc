import type { EmulatorEvent } from '../emulator/events.ts';
import { escapeText, jsonText } from '../kernel/escape.ts';
import { timeText } from './session-lines.ts';
import type { Style } from './style.ts';

/** An emulator event as lines for people. */
export function emulatorLines(event: EmulatorEvent, style: Style): string[] {
  const text = describe(event, style);
  return text === undefined ? [] : [`${style.dim(timeText(event.t))}  ${text}`];
}

function describe(event: EmulatorEvent, style: Style): string | undefined {
  switch (event.type) {
    case 'token-issued':
      return `→ token for ${escapeText(event.device)} (${event.remaining} left)`;
    case 'request-refused':
      return style.note(
        `→ ${event.status} ${escapeText(event.code)}: ${escapeText(event.message)}${about(event)}`,
      );
    case 'tls-failed':
      return style.note(`→ TLS with ${escapeText(event.remote)} failed: ${escapeText(event.why)}`);
    case 'stream-opened':
      return `· stream ${event.stream} opened from ${escapeText(event.remote)}`;
    case 'stream-authorised':
      return `· stream ${event.stream} is ${escapeText(event.device)} (${event.connections} connected)`;
    case 'message-sent':
      return `→ stream ${event.stream}  ${jsonText(event.body)}`;
    case 'text-received':
      return style.note(`← stream ${event.stream}  text of ${event.bytes} bytes after the token`);
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
      return style.note(`! stream ${event.stream}  ${escapeText(event.remark)}`);
    case 'stream-closed':
      return closedText(event);
    case 'stopping':
      return '· stopping';
    case 'listening':
      return undefined;
  }
}

function about({ device, path }: { device?: string; path?: string }): string {
  const subject = device ?? path;
  return subject === undefined ? '' : ` (${escapeText(subject)})`;
}

function closedText(event: EmulatorEvent & { type: 'stream-closed' }): string {
  const { stream, code, reason, framesIn, bytesIn, framesOut, bytesOut } = event;
  const why = reason === '' ? '' : ` ${escapeText(reason)}`;
  const heard = `in ${framesIn} frames ${bytesIn} bytes, out ${framesOut} frames ${bytesOut} bytes`;
  const remarks = event.remarks.map((remark) => `; ${escapeText(remark)}`).join('');
  return `· stream ${stream} closed ${code}${why}: ${seconds(event.durationMs)}, ${heard}${remarks}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
