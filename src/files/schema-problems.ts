import type * as z from 'zod';
import { expectedUnit, lacksUnit } from '../protocol/read-duration.ts';
import type { SchemaPlaces } from '../protocol/schema-places.ts';
import {
  describeIssue,
  issuePath,
  noSuchSetting,
  type SchemaProblem,
  type SecretNames,
} from '../protocol/schema-problem.ts';
import { suggest } from '../protocol/suggestion.ts';

/** A problem in a file, and its place: a value, or its key. */
export interface FileProblem extends SchemaProblem {
  at: readonly PropertyKey[];
  part: 'key' | 'value';
  /** For an unknown setting: the one that was probably meant. */
  meant?: string;
}

/** All problems of a file: those that its schema found, and durations without a unit. */
export function findProblems(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  { places, secrets }: { places: SchemaPlaces; secrets: SecretNames | undefined },
): FileProblem[] {
  return [
    ...issues.flatMap(eachKey).map((issue) => describe(issue, places, secrets)),
    ...findBareDurations(input, places),
  ];
}

/** Makes a problem for each unknown key. A schema reports those of one mapping together. */
function eachKey(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue];
}

function describe(
  issue: z.core.$ZodIssue,
  places: SchemaPlaces,
  secrets: SecretNames | undefined,
): FileProblem {
  const at = issuePath(issue);
  const problem = describeIssue(issue, secrets);
  const written = at.at(-1);
  const part = issue.code === 'unrecognized_keys' ? 'key' : 'value';
  if (problem.expected !== noSuchSetting || typeof written !== 'string') return { ...problem, at, part };
  const meant = suggest(written, places.keysAt(at.slice(0, -1)));
  return { ...problem, at, part, ...(meant === undefined ? {} : { meant }) };
}

/** Without a unit, seconds and milliseconds look the same. */
function findBareDurations(
  value: unknown,
  places: SchemaPlaces,
  at: readonly PropertyKey[] = [],
): FileProblem[] {
  if (typeof value === 'number') {
    if (!lacksUnit(value) || !places.isDuration(at)) return [];
    const expected = expectedUnit(String(value));
    return [{ path: at.map(String).join('.'), value, expected, at, part: 'value' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  const entries: [PropertyKey, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, one]) => findBareDurations(one, places, [...at, key]));
}
