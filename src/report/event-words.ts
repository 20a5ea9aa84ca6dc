import { escapeText } from '../kernel/escape.ts';
import type { Side } from '../wire/exchange.ts';
import type { Style } from './style.ts';

/**
 * What an event says. A line, a row of a screen and an entry of the page are layouts of it. All of it is safe for a
 * terminal.
 */
export interface EventWords {
  /** Milliseconds on the axis of the events. */
  t: number;
  /** The side that it comes from; `self`: this program. */
  from: EventOrigin;
  /** The same side in a proxy, where lines name it beside the stream. */
  side?: Side;
  stream?: number;
  device?: string;
  /** The kind of the event, in one or two words. */
  subject: string;
  /** What happened, and what to do about it. */
  text: string;
  /** What to do about it, for places without room for the whole text. */
  short?: string;
  level: 'info' | 'warning' | 'error';
}

export type EventOrigin = Side | 'self';

/** What an event says, without its level, which is decided where the event is declared. */
export type SaidWords = Pick<EventWords, 'from' | 'subject' | 'text' | 'short'>;

export function say(from: EventOrigin, subject: string, text: string, short?: string): SaidWords {
  return { from, subject, text, ...(short === undefined ? {} : { short }) };
}

/** Up to the service, and down from it. */
export const originSigns: Readonly<Record<EventOrigin, string>> = { device: '↑', service: '↓', self: '·' };

/** An event as a line: time, direction or a mark, stream and device, subject, text. */
export function eventLine(words: EventWords, style: Style): string {
  return `${style.dim(timeText(words.t))}  ${entryText(words, style)}`;
}

/** The line without its time. */
export function entryText({ from, level, subject, text, ...words }: EventWords, style: Style): string {
  const who = whoText(words);
  // The event may come from another program, which may put text into any field.
  const said = escapeText(
    `${level === 'info' ? originSigns[from] : '!'} ${who === '' ? '' : `${who}  `}${subject}${text === '' ? '' : `  ${text}`}`,
  );
  if (level === 'info') return said;
  return level === 'error' ? style.bad(said) : style.note(said);
}

/** `stream 3 kitchen-1`, and in a proxy `service stream 3 kitchen-1` */
export function whoText({ side, stream, device }: Pick<EventWords, 'side' | 'stream' | 'device'>): string {
  return [side, stream === undefined ? undefined : `stream ${stream}`, device]
    .filter((one) => one !== undefined)
    .join(' ');
}

/** `   1.234`: seconds since the start. */
export function timeText(t: number): string {
  return (t / 1000).toFixed(3).padStart(8);
}
