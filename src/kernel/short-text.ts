/** Longest part that is kept of a text from outside. */
const maxLength = 200;

/** The text, or its beginning and an ellipsis. A copy, because a slice would keep the whole text in memory. */
export function shortText(text: string): string {
  if (text.length <= maxLength) return text;
  return `${Buffer.from(text.slice(0, maxLength), 'utf16le').toString('utf16le')}…`;
}
