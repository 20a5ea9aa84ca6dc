/**
 * What a terminal might obey rather than show: C0 and C1 controls, DEL, bidi controls, line and
 * paragraph separators, and lone surrogates.
 */
const controls =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text from outside, fit for a terminal: what it might obey is shown escaped, such as `\u001b`. */
export function escapeText(text: string): string {
  return text.replace(controls, escapeCharacter);
}

/** One line of JSON that is as safe to show, and still the same value when parsed. */
export function jsonLine(value: unknown): string {
  return `${escapeText(JSON.stringify(value))}\n`;
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
