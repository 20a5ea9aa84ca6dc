import { bytesForMs } from '../protocol/audio-format.ts';

/** Characters of base64 or hexadecimal in a row. A shorter run may be a word or an identifier. */
const codedRun = /[A-Za-z0-9+/_-]{100,}/g;
/** Characters of a list of numbers in a row. */
const listRun = /[\d.eE+,\s-]{200,}/g;
/** Less may be a token, a key or a picture of levels. */
const leastBytes = bytesForMs(250);

/** Whether these text messages hold as much as some audio. What is repeated, such as a token, counts once. */
export function holdAudio(texts: readonly string[]): boolean {
  const runs = new Set(texts.flatMap((text) => [...(text.match(codedRun) ?? []), ...listsIn(text)]));
  return [...runs].reduce((sum, run) => sum + bytesIn(run), 0) >= leastBytes;
}

function listsIn(text: string): readonly string[] {
  return (text.match(listRun) ?? []).filter((run) => run.includes(','));
}

/** Of a list: two bytes for each number. Of base64: what it decodes to. */
function bytesIn(run: string): number {
  const numbers = run.split(',').length;
  return numbers > 1 ? 2 * numbers : Math.floor((run.length * 3) / 4);
}
