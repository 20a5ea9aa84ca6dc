/**
 * Finds a text in every way in which JSON can write it: `\u0043` for a letter, `\/` for a slash, and both again if JSON
 * is a string within JSON. A match includes the backslashes before it. Takes linear time: a run of backslashes
 * is scanned only from its beginning.
 */
export function spellingsOf(text: string): RegExp {
  const parts = text.match(/\\+|[^\\]/g) ?? [];
  const patterns = parts.map((part, index) => {
    if (part.startsWith('\\')) return backslashes;
    const isAfterBackslash = parts[index - 1]?.startsWith('\\') ?? false;
    return `${isAfterBackslash ? '' : '\\\\*'}${unitPattern(part)}`;
  });
  return new RegExp(`(?<!\\\\)${patterns.join('')}`, 'g');
}

/** Any number: the backslashes of the text look the same as those that escape. */
const backslashes = '\\\\(?:\\\\|u005[cC])*';

const shortEscapes: Record<string, string> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' };

/** Pattern of one UTF-16 unit, after the backslashes. */
function unitPattern(unit: string): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const named = shortEscapes[unit];
  const escapes = [`u${anyCase}`, ...(named === undefined ? [] : [named])];
  return `(?:\\u${hex}|(?<=\\\\)(?:${escapes.join('|')}))`;
}
