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
} from 'yaml';
import { escapeText } from '../kernel/escape.ts';

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
