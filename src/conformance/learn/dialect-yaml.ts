import { Document, isMap, isScalar, type Pair, Scalar, type YAMLMap } from 'yaml';
import { safeYaml } from '../../files/yaml-document.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { DialectInput } from '../../protocol/dialect.ts';
import type { Lesson } from './infer.ts';
import { learnedDialect } from './learned-dialect.ts';
import type { Learned } from './setting.ts';

/** The first lines of the file, as comments. */
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
  const root = isMap(document.contents) ? document.contents : undefined;
  if (root !== undefined) {
    root.flow = false;
    for (const { setting, learned } of lesson.settings) comment(root, setting.path.split('.'), learned);
  }
  const undetermined = lesson.settings.flatMap(({ setting: { path }, learned }) =>
    'value' in learned ? [] : [`${path}: ${learned.unknown}`],
  );
  const remarks =
    lesson.remarks.length === 0 ? [] : ['', 'What a dialect cannot express:', ...lesson.remarks.map(bullet)];
  const foot =
    undetermined.length === 0 ? [] : ['', 'Not determined by the probes:', ...undetermined.map(bullet)];
  const body = root === undefined || root.items.length === 0 ? '{}\n' : safeYaml(document, width);
  return [commentBlock([...lines, ...remarks]), body, commentBlock(foot)]
    .filter((text) => text !== '')
    .join('\n');
}

function bullet(text: string): string {
  return `- ${text}`;
}

function commentBlock(lines: readonly string[]): string {
  return lines.map((line) => (line === '' ? '#\n' : `# ${escapeText(line)}\n`)).join('');
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
  key.commentBefore = ` ${escapeText('value' in learned ? learned.evidence : `kept: ${learned.unknown}`)}`;
  pair.key = key;
}
