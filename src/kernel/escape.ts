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

/** The first `length` UTF-16 units of a text, or one less where that would cut a character in two. */
export function cutText(text: string, length: number): string {
  const isSplit =
    /[\ud800-\udbff]/.test(text.charAt(length - 1)) && /[\udc00-\udfff]/.test(text.charAt(length));
  return text.slice(0, isSplit ? length - 1 : length);
}

/** A value as JSON that is as safe to show. What is nested more deeply than can be written is left out, and that said. */
export function jsonText(value: unknown): string {
  return escapeText(stringify(value));
}

/** One line of JSON that is as safe to show, and still the same value when parsed. */
export function jsonLine(value: unknown): string {
  return `${jsonText(value)}\n`;
}

/** The same, spread over indented lines for people. */
export function jsonLines(value: unknown): string {
  const lines = stringify(value, 2).split('\n');
  return lines.map((line) => `${escapeText(line)}\n`).join('');
}

const tooDeep = '(nested too deeply)';

/** `JSON.parse` reads any depth, `JSON.stringify` does not write it: a service could end the program with that. */
function stringify(value: unknown, indent?: number): string {
  const text = tryStringify(value, indent);
  if (text !== undefined) return text;
  const parts = Object.entries(value as object).map(([name, part]) => {
    return [name, tryStringify(part) === undefined ? tooDeep : part];
  });
  return JSON.stringify(Array.isArray(value) ? tooDeep : Object.fromEntries(parts), undefined, indent);
}

/** Undefined where the stack does not suffice. */
function tryStringify(value: unknown, indent?: number): string | undefined {
  try {
    return JSON.stringify(value, undefined, indent) ?? 'null';
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
