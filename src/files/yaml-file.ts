import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type * as z from 'zod';
import { type ErrorCode, VoicectlError } from '../kernel/errors.ts';
import { createSchemaPlaces } from '../protocol/schema-places.ts';
import { noSuchSetting, type SchemaProblem, type SecretNames } from '../protocol/schema-problem.ts';
import { readText, type Stdin } from './read-text.ts';
import { findProblems } from './schema-problems.ts';

/** Lines and columns count from 1, as editors do. */
type Place = {
  line: number;
  column: number;
};

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

/** Most problems in a message. All are in `details.problems`. */
const problemsTold = 10;

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
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const [broken] = document.errors;
  if (broken !== undefined) {
    const place = placeAt(broken.pos[0]);
    throw new VoicectlError(code, `${placeText(file, place)}: ${broken.message.split('\n')[0]}`, {
      hint,
      cause: broken,
      details: place,
    });
  }
  const input = toValue(document, file, code);
  const placeOf = (path: readonly PropertyKey[], part: 'key' | 'value' = 'value') =>
    placeAt(offsetOf(document, path, part));
  const result = schema.safeParse(input, { reportInput: true });
  const found = findProblems(result.error?.issues ?? [], input, {
    places: createSchemaPlaces(schema),
    secrets,
  });
  const problems = found.map(({ at, part, ...problem }) => ({ ...problem, ...placeOf(at, part) }));
  if (!result.success || problems.length > 0) {
    const texts = problems.slice(0, problemsTold).map((problem) => problemText(file, problem));
    if (problems.length > problemsTold) texts.push(`and ${problems.length - problemsTold} more`);
    throw new VoicectlError(code, texts.join('; '), { hint, details: { problems } });
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

/** The document as plain values. Refuses aliases that would make it huge. */
function toValue(document: Document, file: string, code: ErrorCode): unknown {
  try {
    return document.toJS() ?? {};
  } catch (cause) {
    throw new VoicectlError(code, `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Where the value at this path, or its key, begins in the text; for a missing one, where its parent begins. */
function offsetOf(document: Document, path: readonly PropertyKey[], part: 'key' | 'value'): number {
  let offset = startOf(document.contents) ?? 0;
  let holder: unknown = document.contents;
  for (const [depth, key] of path.entries()) {
    if (isAlias(holder)) holder = holder.resolve(document);
    const pair = isMap(holder) ? holder.items.find((one) => keyText(one.key) === String(key)) : undefined;
    const value: unknown = isSeq(holder) ? holder.get(key, true) : pair?.value;
    const isKeyWanted = part === 'key' && depth === path.length - 1;
    offset = (isKeyWanted ? undefined : startOf(value)) ?? startOf(pair?.key) ?? offset;
    holder = value;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function keyText(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

function problemText(
  file: string,
  { path, value, expected, meant, ...place }: SchemaProblem & Place & { meant?: string },
): string {
  const where = `${placeText(file, place)}: ${path}`;
  if (expected === noSuchSetting) {
    return `${where}: ${noSuchSetting}${meant === undefined ? '' : `, did you mean ${meant}?`}`;
  }
  return `${where}: ${value === undefined ? 'missing' : JSON.stringify(value)}, expected ${expected}`;
}

function placeText(file: string, { line, column }: Place): string {
  return `${file}:${line}:${column}`;
}
