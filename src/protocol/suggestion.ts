import { closestMatch } from 'leven';

/** The known name that was probably meant; undefined if none is similar. */
export function suggestName(written: string, known: readonly string[]): string | undefined {
  // Two swapped letters have a distance of two.
  const maxDistance = written.length < 4 ? 1 : Math.max(2, Math.floor(written.length / 3));
  const letters = lettersOf(written);
  return closestMatch(written, known, { maxDistance }) ?? known.find((name) => lettersOf(name) === letters);
}

function lettersOf(word: string): string {
  return [...word].toSorted().join('');
}

/** `, did you mean close?`, or nothing if no known name is similar. */
export function didYouMean(written: string, known: readonly string[]): string {
  const meant = suggestName(written, known);
  return meant === undefined ? '' : `, did you mean ${meant}?`;
}
