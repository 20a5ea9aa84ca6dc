import { bytesForMs, bytesPerSample } from '../../protocol/audio-format.ts';

/** Fewer characters may be samples by chance. */
const fewestCharacters = 32;
/** The samples of 10 ms at 8 kHz. Fewer numbers may be levels or coordinates. */
const fewestNumbers = 80;
/** Characters of a list of numbers in a row. */
const listRun = /[\d.eE+,\s-]{159,}/g;
/** A string of base64 in JSON. A shorter one may be an identifier. */
const codedString = /"[\w+/=-]{100,}"/;
/** Characters of base64 or hexadecimal in a row. A shorter run may be a word or an identifier. */
const codedRun = /[A-Za-z0-9+/_-]{100,}/g;
/** Less may be a token, a key or a picture of levels. */
const leastBytes = bytesForMs(250);
/** A token or a key is one or two texts; messages of a tone have more. */
const fewestDistinct = 4;

/**
 * How one text of a device holds audio; undefined if it does not. Each text is judged by itself, because a device is told
 * at once.
 */
export function recogniseText(text: string): 'base64' | 'json' | undefined {
  if (text.length < fewestCharacters) return undefined;
  const isVaried = [/[A-Z]/, /[a-z]/, /\d/].every((kind) => kind.test(text));
  if (isVaried && /^[\w+/=\s-]+$/.test(text)) return 'base64';
  const hasString = /^\s*\{/.test(text) && codedString.test(text);
  return hasString || (/^\s*[[{]/.test(text) && listsIn(text).length > 0) ? 'json' : undefined;
}

/**
 * Whether texts of a service hold as much as some audio together: each one alone may be anything. Of few texts that are
 * repeated, such as a token, each counts once.
 */
export function holdAudio(texts: readonly string[]): boolean {
  const runs = texts.flatMap((text) => [...(text.match(codedRun) ?? []), ...listsIn(text)]);
  const distinct = new Set(runs);
  const counted = distinct.size < fewestDistinct ? [...distinct] : runs;
  return counted.reduce((sum, run) => sum + bytesIn(run), 0) >= leastBytes;
}

function listsIn(text: string): readonly string[] {
  return (text.match(listRun) ?? []).filter((run) => run.split(',').length >= fewestNumbers);
}

/** Of a list: two bytes for each number. Of base64: what it decodes to. */
function bytesIn(run: string): number {
  const numbers = run.split(',').length;
  return numbers > 1 ? bytesPerSample * numbers : Math.floor((run.length * 3) / 4);
}
