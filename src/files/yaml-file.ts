import type * as z from 'zod';
import { type ErrorCode, VoicectlError } from '../kernel/errors.ts';
import { expectedUnit, lacksUnit } from '../protocol/read-duration.ts';
import { createSchemaPlaces, type SchemaPlaces } from '../protocol/schema-places.ts';
import {
  describeIssue,
  eachIssue,
  issuePath,
  noSuchSetting,
  readOnce,
  type SchemaProblem,
  type SecretNames,
} from '../protocol/schema-problem.ts';
import { suggestName } from '../protocol/suggestion.ts';
import { readText, type Stdin } from './read-text.ts';
import { inOrder, locationText, openYaml, plainValue, problemsText } from './yaml-document.ts';

export interface YamlSchema<Schema extends z.ZodType> {
  schema: Schema;
  /** Code of the error. Default: `bad-input`. */
  code?: ErrorCode;
  /** How to fix an invalid file, in one sentence. */
  hint?: string;
  /** Names of settings whose values are never shown. */
  secrets?: SecretNames;
}

/** A file that matches its schema. */
export interface YamlFile<Schema extends z.ZodType> {
  /** The parsed value, with defaults. */
  value: z.output<Schema>;
  /** The content of the file, without defaults. */
  input: z.input<Schema>;
  /** The error for a value that the schema cannot check, such as a missing file. Names its place. */
  refuse(path: readonly PropertyKey[], why: string, cause?: unknown): VoicectlError;
}

/** Reads a YAML or JSON file (`-`: standard input). Errors: those of `parseYamlFile`, and `bad-input` for a missing file. */
export async function readYamlFile<Schema extends z.ZodType>(
  path: string,
  input: Stdin,
  options: YamlSchema<Schema>,
): Promise<YamlFile<Schema>> {
  return parseYamlFile(await readText(path, input), path, options);
}

/**
 * Checks the content of a YAML or JSON file against a schema. An empty file is an empty mapping. Throws the error of
 * `options.code` if it is not YAML or does not match the schema: each problem as `file:line:column`, the path of
 * the setting, its value and what was expected.
 */
export function parseYamlFile<Schema extends z.ZodType>(
  content: string,
  file: string,
  { schema, code = 'bad-input', hint, secrets }: YamlSchema<Schema>,
): YamlFile<Schema> {
  const opened = openYaml(content);
  const { document, placeAt, placeOf } = opened;
  const [broken] = document.errors;
  if (broken !== undefined) {
    const place = placeAt(broken.pos[0]);
    throw new VoicectlError(code, `${locationText(file, place)}: ${broken.message.split('\n')[0]}`, {
      hint,
      cause: broken,
      details: place,
    });
  }
  const plain = plainValue(opened, (why, place) => {
    throw new VoicectlError(code, `${locationText(file, place)}: ${why}`, { hint, details: place });
  });
  const input = plain ?? {};
  const result = schema.safeParse(input, readOnce);
  const found = findProblems(result.error?.issues ?? [], input, {
    places: createSchemaPlaces(schema),
    secrets,
  });
  const problems = inOrder(found.map(({ at, part, ...problem }) => ({ ...problem, ...placeOf(at, part) })));
  if (!result.success || problems.length > 0) {
    throw new VoicectlError(code, problemsText(file, problems), { hint, details: { problems } });
  }
  return {
    value: result.data,
    input: input as z.input<Schema>,
    refuse: (path, why, cause) =>
      new VoicectlError(code, `${locationText(file, placeOf(path))}: ${path.map(String).join('.')}: ${why}`, {
        cause,
        details: placeOf(path),
      }),
  };
}

/** A problem in a file, and its place: a value, or its key. */
interface FileProblem extends SchemaProblem {
  at: readonly PropertyKey[];
  part: 'key' | 'value';
  /** For an unknown setting: the one that was probably meant. */
  meant?: string;
}

/** All problems of a file: those that its schema found, and durations without a unit. */
function findProblems(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  { places, secrets }: { places: SchemaPlaces; secrets: SecretNames | undefined },
): FileProblem[] {
  return [
    ...eachIssue(issues).map((issue) => describe(issue, places, secrets)),
    ...findBareDurations(input, places),
  ];
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
  const meant = suggestName(written, places.keysAt(at.slice(0, -1)));
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
