import type * as z from 'zod';
import { type ErrorCode, VoicectlError } from '../kernel/errors.ts';
import { createSchemaPlaces } from '../protocol/schema-places.ts';
import { readOnce, type SecretNames } from '../protocol/schema-problem.ts';
import { inOrder, placeText, problemsText } from './problem-text.ts';
import { readText, type Stdin } from './read-text.ts';
import { findProblems } from './schema-problems.ts';
import { openYaml, plainValue } from './yaml-document.ts';

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
    throw new VoicectlError(code, `${placeText(file, place)}: ${broken.message.split('\n')[0]}`, {
      hint,
      cause: broken,
      details: place,
    });
  }
  const plain = plainValue(opened, (why, place) => {
    throw new VoicectlError(code, `${placeText(file, place)}: ${why}`, { hint, details: place });
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
      new VoicectlError(code, `${placeText(file, placeOf(path))}: ${path.map(String).join('.')}: ${why}`, {
        cause,
        details: placeOf(path),
      }),
  };
}
