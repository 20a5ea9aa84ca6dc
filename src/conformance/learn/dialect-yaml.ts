import { Document, isMap, isScalar, type Pair, Scalar, type YAMLMap } from 'yaml';
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
 * with the reason. `base` keeps its unknown settings.
 */
export function dialectYaml(lesson: Lesson, { lines }: DialectHead, base: DialectInput = {}): string {
  const document = new Document(learnedDialect(lesson, base));
  const root = isMap(document.contents) ? document.contents : undefined;
  if (root !== undefined) {
    root.flow = false;
    for (const { setting, learned } of lesson.settings) comment(root, setting.path.split('.'), learned);
  }
  const untold = lesson.settings.flatMap(({ setting: { path }, learned }) =>
    'value' in learned ? [] : [`${path}: ${learned.unknown}`],
  );
  const remarks =
    lesson.remarks.length === 0 ? [] : ['', 'What no dialect can say:', ...lesson.remarks.map(bullet)];
  const foot = untold.length === 0 ? [] : ['', 'Not told by what was asked:', ...untold.map(bullet)];
  const body =
    root === undefined || root.items.length === 0 ? '{}\n' : document.toString({ lineWidth: width });
  return [commentBlock([...lines, ...remarks]), body, commentBlock(foot)]
    .filter((text) => text !== '')
    .join('\n');
}

function bullet(text: string): string {
  return `- ${text}`;
}

function commentBlock(lines: readonly string[]): string {
  return lines.map((line) => (line === '' ? '#\n' : `# ${safe(line)}\n`)).join('');
}

/** Keeps a comment on one line, even with text from a service. */
function safe(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}

/** Puts the evidence above the setting. */
function comment(map: YAMLMap, [name, ...rest]: readonly string[], learned: Learned): void {
  const pair = map.items.find(({ key }) => String(isScalar(key) ? key.value : key) === name) as
    | Pair<unknown, unknown>
    | undefined;
  if (pair === undefined || !('value' in learned)) return;
  if (rest.length > 0) {
    if (isMap(pair.value)) comment(pair.value, rest, learned);
    return;
  }
  const key = isScalar(pair.key) ? pair.key : new Scalar(name);
  key.commentBefore = ` ${safe(learned.evidence)}`;
  pair.key = key;
}
