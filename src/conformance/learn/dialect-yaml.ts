import { Document, isMap, isScalar, type Pair, Scalar, visit, type YAMLMap } from 'yaml';
import type { DialectInput } from '../../protocol/dialect.ts';
import type { Lesson } from './infer.ts';
import { learnedDialect } from './learned-dialect.ts';
import type { Learned } from './setting.ts';

/** What stands at the head of the file, a line each. */
export interface DialectHead {
  lines: readonly string[];
}

const width = 100;

/**
 * A lesson as a dialect file. A comment gives the evidence for each value; unknown settings are comments
 * with the reason. `base` keeps its unknown settings, which are marked.
 */
export function dialectYaml(lesson: Lesson, { lines }: DialectHead, base: DialectInput = {}): string {
  const document = new Document(learnedDialect(lesson, base));
  quoteHidden(document);
  const root = isMap(document.contents) ? document.contents : undefined;
  if (root !== undefined) {
    root.flow = false;
    for (const { setting, learned } of lesson.settings) comment(root, setting.path.split('.'), learned);
  }
  const untold = lesson.settings.flatMap(({ setting: { path }, learned }) =>
    'value' in learned ? [] : [`${path}: ${learned.unknown}`],
  );
  const remarks =
    lesson.remarks.length === 0 ? [] : ['', 'What a dialect cannot express:', ...lesson.remarks.map(bullet)];
  const foot = untold.length === 0 ? [] : ['', 'Not determined by the probes:', ...untold.map(bullet)];
  const body =
    root === undefined || root.items.length === 0 ? '{}\n' : document.toString({ lineWidth: width });
  return [commentBlock([...lines, ...remarks]), escapeHidden(body), commentBlock(foot)]
    .filter((text) => text !== '')
    .join('\n');
}

/** Characters that YAML lets stand as they are, and that people do not see: they change what is shown around them. */
const hidden = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Quotes each text with such a character: only there an escape means the character. */
function quoteHidden(document: Document): void {
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && node.value.search(hidden) >= 0) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
}

function escapeHidden(yaml: string): string {
  return yaml.replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function bullet(text: string): string {
  return `- ${text}`;
}

function commentBlock(lines: readonly string[]): string {
  return lines.map((line) => (line === '' ? '#\n' : `# ${safe(line)}\n`)).join('');
}

/** Keeps a comment on one line, even with text from a service. */
function safe(text: string): string {
  return escapeHidden(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"'));
}

/** Puts the evidence above the setting. */
function comment(map: YAMLMap, [name, ...rest]: readonly string[], learned: Learned): void {
  const pair = map.items.find(({ key }) => String(isScalar(key) ? key.value : key) === name) as
    | Pair<unknown, unknown>
    | undefined;
  if (pair === undefined) return;
  if (rest.length > 0) {
    if (isMap(pair.value)) comment(pair.value, rest, learned);
    return;
  }
  const key = isScalar(pair.key) ? pair.key : new Scalar(name);
  key.commentBefore = ` ${safe('value' in learned ? learned.evidence : `kept: ${learned.unknown}`)}`;
  pair.key = key;
}
