/**
 * Characters that a terminal may execute and not show: C0 and C1 controls, DEL, bidi controls, line and
 * paragraph separators, the mark of byte order, and lone surrogates.
 */
const controls =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Commands that a pipeline runner obeys in a log: `##[cmd]` and `##vso[cmd]` anywhere, `::cmd::` at the start of a line. In
 * JSON the first two can occur only in strings, and the third nowhere.
 */
const runnerCommand = /(?<=#)#(?=[A-Za-z]{0,20}\[)|:(?<=^\s*:)(?=:)/g;

/**
 * Makes text from outside safe to show: escapes control characters, such as `\u001b`, and what the runner of a pipeline
 * would obey in its log. If a text is broken into lines, escape each line.
 */
export function escapeText(text: string): string {
  return text.replace(controls, escapeCharacter).replace(runnerCommand, escapeCharacter);
}

/** The first `length` UTF-16 units of a text, or one less if that would cut a character in two. */
export function cutText(text: string, length: number): string {
  const isSplit =
    /[\ud800-\udbff]/.test(text.charAt(length - 1)) && /[\udc00-\udfff]/.test(text.charAt(length));
  return text.slice(0, isSplit ? length - 1 : length);
}

/** A value as JSON that is safe to show. Replaces parts that are nested too deeply by a note. */
export function jsonText(value: unknown): string {
  return escapeText(stringify(value));
}

/** One line of JSON that is safe to show and parses to the same value. */
export function jsonLine(value: unknown): string {
  return `${jsonText(value)}\n`;
}

/** The same on indented lines, for people. */
export function jsonLines(value: unknown): string {
  const lines = stringify(value, 2).split('\n');
  return lines.map((line) => `${escapeText(line)}\n`).join('');
}

const tooDeep = '(nested too deeply)';

/** `JSON.parse` reads any depth, but `JSON.stringify` overflows the stack: a service could crash the program. */
function stringify(value: unknown, indent?: number): string {
  const text = tryStringify(value, indent);
  if (text !== undefined) return text;
  const parts = Object.entries(value as object).map(([name, part]) => {
    return [name, tryStringify(part) === undefined ? tooDeep : part];
  });
  return JSON.stringify(Array.isArray(value) ? tooDeep : Object.fromEntries(parts), undefined, indent);
}

/** Undefined if the stack overflows. */
function tryStringify(value: unknown, indent?: number): string | undefined {
  try {
    return JSON.stringify(value, undefined, indent) ?? 'null';
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

/** A character as its UTF-16 units in the spelling of JSON, such as `\u001b`. */
export function escapeCharacter(character: string): string {
  if (character.length > 1) return character.split('').map(escapeCharacter).join('');
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
