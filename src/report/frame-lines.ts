import { measureLevel } from '../audio/level.ts';
import { escapeText } from '../kernel/escape.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import type { WireMessage } from '../wire/exchange.ts';
import { originSigns, timeText } from './event-words.ts';
import { silentDbfs } from './session-lines.ts';
import type { Style } from './style.ts';

/** Bytes of a binary message that are shown. */
const shownBytes = 8;

/** One message as a line for people: time since the beginning, direction, kind and content. */
export function frameLine(message: WireMessage, t: number, style: Style): string {
  return `${style.dim(timeText(t))}  ${originSigns[message.from]} ${message.opcode.padEnd(6)} ${contentText(message)}`;
}

/** The same as an object for programs. */
export function frameJson(message: WireMessage, t: number): Record<string, unknown> {
  const { from, opcode, bytes } = message;
  return {
    type: 'frame',
    t: Math.round(t * 10) / 10,
    from,
    opcode,
    bytes,
    ...('text' in message ? { text: message.text } : {}),
    ...('data' in message ? { base64: message.data.toString('base64') } : {}),
    ...('token' in message ? { token: true } : {}),
  };
}

function contentText(message: WireMessage): string {
  if ('token' in message) return `the token, ${message.bytes} bytes`;
  if ('text' in message) return escapeText(message.text);
  if (!('data' in message)) return message.bytes === 0 ? '' : `${message.bytes} bytes`;
  const { data } = message;
  const start = data.subarray(0, shownBytes).toString('hex').replace(/../g, '$& ').trimEnd();
  const more = data.length > shownBytes ? ' …' : '';
  const level = data.length < 2 ? '' : `, ${msForBytes(data.length).toFixed(1)} ms ${levelText(data)}`;
  return `${data.length} bytes${level}${start === '' ? '' : `: ${start}${more}`}`;
}

function levelText(data: Buffer): string {
  const { rmsDbfs } = measureLevel(data);
  return rmsDbfs <= silentDbfs ? 'of silence' : `at ${rmsDbfs.toFixed(0)} dBFS`;
}
