import { cutText } from './escape.ts';

/** Longest part of a text from outside that is kept. */
const maxLength = 200;

/** The text, or its beginning and an ellipsis. */
export function shortText(text: string): string {
  return text.length <= maxLength ? text : `${beginningOf(text, maxLength)}…`;
}

/** At most `length` characters of the text. A copy, because a slice would keep the whole text in memory. */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(cutText(text, length), 'utf16le').toString('utf16le');
}
