import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  visit,
  type YAMLError,
} from 'yaml';
import { VoicectlError } from '../kernel/errors.ts';
import { escapeText } from '../kernel/escape.ts';
import { noSuchSetting, type SchemaProblem, shownValueText } from '../protocol/schema-problem.ts';

/** Lines and columns count from 1, as editors do. */
export interface Place {
  line: number;
  column: number;
}

/** A YAML or JSON text, and where its values are. */
export interface YamlDocument {
  document: Document.Parsed;
  /** The place of a character, by its offset in the text. */
  placeAt(offset: number): Place;
  /** Where the value at this path, or its key, begins; for a missing one, where its parent begins. */
  placeOf(path: readonly PropertyKey[], part?: 'key' | 'value'): Place;
}

/**
 * The document as plain values. Calls `refuse` with the place of an alias without an anchor or inside its own anchor, and with
 * the first alias of a document that its aliases would make huge.
 */
export function plainValue(
  { document, placeAt }: YamlDocument,
  refuse: (why: string, place: Place) => never,
): unknown {
  let first: number | undefined;
  visit(document, {
    Alias(_key, alias, path) {
      const at = alias.range?.[0] ?? 0;
      first ??= at;
      if (alias.resolve(document) === undefined)
        refuse(`there is no anchor &${alias.source} before this alias`, placeAt(at));
      if (path.some((node) => isNode(node) && 'anchor' in node && node.anchor === alias.source))
        refuse(`the alias *${alias.source} is inside the part that it repeats`, placeAt(at));
    },
  });
  try {
    return document.toJS();
  } catch {
    return refuse('its aliases cannot be followed: they repeat too much', placeAt(first ?? 0));
  }
}

/** Parses a text. Its errors and warnings are in `document`, and are never printed. */
export function openYaml(content: string): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  return { document, placeAt, placeOf: (path, part = 'value') => placeAt(offsetOf(document, path, part)) };
}

/**
 * A document as text that is safe to show. A text that has to be escaped for that is quoted: only in quotes an escape means
 * the character.
 */
export function safeYaml(document: Document, lineWidth: number): string {
  visit(document, {
    Scalar(_key, node) {
      const { value } = node;
      if (typeof value === 'string' && (escapeText(value) !== value || /:{2}|##/.test(value)))
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth }).split('\n').map(escapeText).join('\n');
}

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

/** A problem of a file, at its place. */
export interface PlacedProblem extends SchemaProblem, Place {
  /** For an unknown setting: the one that was probably meant. */
  meant?: string;
}

/** Maximum number of problems in a message. The details of the error have all of them. */
const mostProblemsShown = 10;

/** All problems of a file in one message: each as `file:line:column`, the path, the value and what was expected. */
export function problemsText(file: string, problems: readonly PlacedProblem[]): string {
  const texts = problems.slice(0, mostProblemsShown).map((problem) => problemText(file, problem));
  if (problems.length > mostProblemsShown) texts.push(`and ${problems.length - mostProblemsShown} more`);
  return texts.join('; ');
}

/** The problems in the order of the file. */
export function inOrder(problems: readonly PlacedProblem[]): PlacedProblem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

function problemText(file: string, { path, value, expected, meant, ...place }: PlacedProblem): string {
  const where = `${locationText(file, place)}: ${path}`;
  if (expected === noSuchSetting) {
    return `${where}: ${noSuchSetting}${meant === undefined ? '' : `, did you mean ${meant}?`}`;
  }
  return `${where}: ${shownValueText(value)}, expected ${expected}`;
}

export function locationText(file: string, { line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** The content of a file, and where its values are. */
export interface PlacedValue extends Pick<YamlDocument, 'placeOf'> {
  value: unknown;
}

/**
 * The content of a YAML or JSON file that may hold a key. Throws `bad-config` with the line and the column, never with the content.
 */
export function parseSecretYaml(path: string, content: string): PlacedValue {
  const opened = openYaml(content);
  const { document, placeAt, placeOf } = opened;
  const refuseAt = (why: string, place: Place): never => {
    throw new VoicectlError('bad-config', `${locationText(path, place)}: ${why}`, { details: place });
  };
  const refuse = (why: string, { pos }: Pick<YAMLError, 'pos'>): never => refuseAt(why, placeAt(pos[0]));
  const [error] = document.errors;
  if (error !== undefined)
    refuse(`this is not YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`, error);
  // Without this an unknown tag would be ignored.
  const tag = document.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED');
  if (tag !== undefined) refuse('this tag is unknown', tag);
  // The name of an anchor may be a key in the wrong place.
  const value = plainValue(opened, (_why, place) => refuseAt('its aliases cannot be followed', place));
  return { value, placeOf };
}
