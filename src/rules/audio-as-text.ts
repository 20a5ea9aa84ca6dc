import { bytesForMs } from '../protocol/audio-format.ts';

/** Characters of base64 or hexadecimal in a row. A shorter run may be a word or an identifier. */
const codedRun = /[A-Za-z0-9+/_-]{100,}/g;
/** Characters of a list of numbers in a row. */
const listRun = /[\d.eE+,\s-]{200,}/g;
/** Less may be a token, a key or a picture of levels. */
const leastBytes = bytesForMs(250);

/** A token or a key is one or two texts; messages of a tone have more. */
const fewestDistinct = 4;

/** Whether these text messages hold as much as some audio. Of few texts that are repeated, such as a token, each counts once. */
export function holdAudio(texts: readonly string[]): boolean {
  const runs = texts.flatMap((text) => [...(text.match(codedRun) ?? []), ...listsIn(text)]);
  const distinct = new Set(runs);
  const counted = distinct.size < fewestDistinct ? [...distinct] : runs;
  return counted.reduce((sum, run) => sum + bytesIn(run), 0) >= leastBytes;
}

function listsIn(text: string): readonly string[] {
  return (text.match(listRun) ?? []).filter((run) => run.includes(','));
}

/** Of a list: two bytes for each number. Of base64: what it decodes to. */
function bytesIn(run: string): number {
  const numbers = run.split(',').length;
  return numbers > 1 ? 2 * numbers : Math.floor((run.length * 3) / 4);
}
