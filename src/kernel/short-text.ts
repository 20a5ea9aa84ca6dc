/** What is remembered of a text that somebody else chose. */
const maxLength = 200;

/** The text, or its begin and an ellipsis; in memory of its own, where a slice would keep all of the text there. */
export function shortText(text: string): string {
  if (text.length <= maxLength) return text;
  return `${Buffer.from(text.slice(0, maxLength), 'utf16le').toString('utf16le')}…`;
}
