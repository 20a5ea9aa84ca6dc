import leven from 'leven';
import { cutText } from '../../kernel/escape.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { ownValue } from '../../protocol/parse-json.ts';

type Scalar = string | number | boolean | null;

/** The expected value of a field, or its limits. */
export type FieldMatch =
  | Scalar
  | {
      min?: number | undefined;
      max?: number | undefined;
      /** A regular expression that matches anywhere in the text. */
      matches?: string | undefined;
      oneOf?: readonly Scalar[] | undefined;
    }
  | {
      /** These words in this order, regardless of case and punctuation. */
      like: string;
      /** Highest allowed word error rate, 0 to 1. */
      wer?: number | undefined;
    };

/** The default of `wer`: one word in five. */
const usualErrorRate = 0.2;

/** Keyed by the path of the field, such as `error.code` or `words.0`. */
export type FieldMatches = Readonly<Record<string, FieldMatch>>;

/** The fields of a message that do not match, each with its value. Undefined if all match. */
export function findMismatch(matches: FieldMatches, body: unknown): string | undefined {
  const wrong = Object.entries(matches).flatMap(([path, match]) => {
    const value = valueAt(path, body);
    if (isMatch(match, value)) return [];
    return [`${path} is ${value === undefined ? 'missing' : valueText(value)}${errorRateText(match, value)}`];
  });
  return wrong.length === 0 ? undefined : wrong.join(', ');
}

/** A longer value would hide the rest of a report. */
const maxValueCharacters = 200;

function valueText(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= maxValueCharacters) return text;
  return `${cutText(text, maxValueCharacters)}… (${text.length} characters)`;
}

/** The expected fields, as text. */
export function matchesText(matches: FieldMatches): string {
  return Object.entries(matches)
    .map(([path, match]) => `${path} ${matchText(match)}`)
    .join(', ');
}

function isMatch(match: FieldMatch, value: unknown): boolean {
  if (!isRecord(match)) return value === match;
  if ('like' in match)
    return typeof value === 'string' && wordErrorRate(match.like, value) <= (match.wer ?? usualErrorRate);
  const { min, max, matches, oneOf } = match;
  const isNumber = typeof value === 'number';
  return (
    (min === undefined || (isNumber && value >= min)) &&
    (max === undefined || (isNumber && value <= max)) &&
    (matches === undefined || (typeof value === 'string' && new RegExp(matches).test(value))) &&
    (oneOf === undefined || oneOf.some((one) => one === value))
  );
}

/**
 * The share of the words of `expected` that must be changed, removed or added to get `heard`, at most 1. Only letters and
 * digits count, in either case.
 */
function wordErrorRate(expected: string, heard: string): number {
  const words = wordsOf(expected);
  const others = wordsOf(heard);
  // Each extra word is an error, so a long text need not be compared.
  if (others.length >= 2 * words.length) return 1;
  const signs = new Map([...words, ...others].map((word) => [word, '']));
  for (const [index, word] of [...signs.keys()].entries()) signs.set(word, String.fromCharCode(index));
  const signsOf = (all: readonly string[]) => all.map((word) => signs.get(word)).join('');
  return Math.min(1, leven(signsOf(words), signsOf(others)) / words.length);
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/['’]/g, '')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

function errorRateText(match: FieldMatch, value: unknown): string {
  if (!isRecord(match) || !('like' in match) || typeof value !== 'string') return '';
  return ` (word error rate ${wordErrorRate(match.like, value).toFixed(2)})`;
}

function matchText(match: FieldMatch): string {
  if (!isRecord(match)) return `is ${JSON.stringify(match)}`;
  if ('like' in match)
    return `like ${JSON.stringify(match.like)} (word error rate at most ${match.wer ?? usualErrorRate})`;
  const { min, max, matches, oneOf } = match;
  return [
    min === undefined ? '' : `at least ${min}`,
    max === undefined ? '' : `at most ${max}`,
    matches === undefined ? '' : `matches /${matches}/`,
    oneOf === undefined ? '' : `one of ${oneOf.map((one) => JSON.stringify(one)).join(', ')}`,
  ]
    .filter((text) => text !== '')
    .join(', ');
}

/** Reads own fields only: a service may name one `constructor`. */
function valueAt(path: string, body: unknown): unknown {
  let value = body;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = ownValue(value as Record<string, unknown>, key);
  }
  return value;
}
