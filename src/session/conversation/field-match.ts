import { isRecord } from '../../protocol/error-body.ts';

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
    };

/** Keyed by the path of the field, such as `error.code` or `words.0`. */
export type FieldMatches = Readonly<Record<string, FieldMatch>>;

/** The fields of a message that do not match, each with its value. Undefined if all match. */
export function findMismatch(matches: FieldMatches, body: unknown): string | undefined {
  const wrong = Object.entries(matches).flatMap(([path, match]) => {
    const value = valueAt(path, body);
    return isMatch(match, value)
      ? []
      : [`${path} is ${value === undefined ? 'missing' : JSON.stringify(value)}`];
  });
  return wrong.length === 0 ? undefined : wrong.join(', ');
}

/** The expected fields, as text. */
export function matchesText(matches: FieldMatches): string {
  return Object.entries(matches)
    .map(([path, match]) => `${path} ${matchText(match)}`)
    .join(', ');
}

function isMatch(match: FieldMatch, value: unknown): boolean {
  if (!isRecord(match)) return value === match;
  const { min, max, matches, oneOf } = match;
  const isNumber = typeof value === 'number';
  return (
    (min === undefined || (isNumber && value >= min)) &&
    (max === undefined || (isNumber && value <= max)) &&
    (matches === undefined || (typeof value === 'string' && new RegExp(matches).test(value))) &&
    (oneOf === undefined || oneOf.some((one) => one === value))
  );
}

function matchText(match: FieldMatch): string {
  if (!isRecord(match)) return `is ${JSON.stringify(match)}`;
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
    const holder: unknown = value;
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined;
    value = (holder as Record<string, unknown>)[key];
  }
  return value;
}
