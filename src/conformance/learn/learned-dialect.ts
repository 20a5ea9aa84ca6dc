import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, isScalar, type Pair, Scalar, type YAMLMap } from 'yaml';
import { safeYaml } from '../../files/yaml-document.ts';
import { escapeText } from '../../kernel/escape.ts';
import { tokenLifetimeSeconds as usual } from '../../protocol/claims.ts';
import type { Dialect, DialectInput } from '../../protocol/dialect.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { statusKind } from '../../protocol/messages.ts';
import { ownValue } from '../../protocol/parse-json.ts';
import type { Lesson } from './infer.ts';
import type { Learned, LearnedValue } from './setting.ts';

/** A setting whose value differs from that of another dialect. */
export interface Difference {
  path: string;
  expected: unknown;
  found: unknown;
  evidence: string;
}

/** The dialect of a lesson. Unknown settings come from `base`, or are omitted. */
export function learnedDialect({ settings }: Lesson, base: DialectInput = {}): DialectInput {
  const dialect = structuredClone(base) as Record<string, unknown>;
  for (const { setting, learned } of settings) {
    const path = setting.path.split('.');
    if ('value' in learned && !shows(learned, read(base, path))) assign(dialect, path, learned.value);
  }
  return dialect;
}

/**
 * The differences between a lesson and a dialect with its defaults, which has no setting for the lifetime of a token. An unknown
 * setting never differs.
 */
export function differences({ settings, lifetimeSeconds = usual }: Lesson, dialect: Dialect): Difference[] {
  const ofLifetime =
    lifetimeSeconds === usual
      ? []
      : [{ path: 'token lifetime', expected: usual, found: lifetimeSeconds, evidence: 'exp − iat, seconds' }];
  const plain = withPlainKinds(dialect);
  const ofSettings = withSpeakingKind(settings).flatMap(({ setting: { path }, learned }) => {
    if (!('value' in learned)) return [];
    const expected = read(plain, path.split('.'));
    const { value: found, evidence } = learned;
    return shows(learned, expected) ? [] : [{ path, expected, found, evidence }];
  });
  return [...ofSettings, ...ofLifetime];
}

const kindPath = 'stream.status.kind';
const speakingPath = 'stream.status.kinds.speaking';

/** The same dialect, written in one way: `kind` is that of the listening state, and the speaking state always has its own. */
function withPlainKinds({ stream, ...dialect }: Dialect): Dialect {
  const kinds = { speaking: statusKind(stream, 'speaking') };
  const status = { ...stream.status, kind: statusKind(stream, 'listening'), kinds };
  return { ...dialect, stream: { ...stream, status } };
}

/** The same of a lesson, which names the kind of the speaking state only if it differs. */
function withSpeakingKind(settings: Lesson['settings']): Lesson['settings'] {
  const kind = settings.find(({ setting }) => setting.path === kindPath)?.learned;
  return settings.map(({ setting, learned }) =>
    setting.path === speakingPath && 'value' in learned && kind !== undefined && 'value' in kind
      ? { setting, learned: { ...learned, value: learned.value ?? kind.value } }
      : { setting, learned },
  );
}

/** Whether a value agrees with the observations. */
function shows({ value, range }: LearnedValue, expected: unknown): boolean {
  const [from = Number.NaN, to = Number.NaN] = range ?? [];
  if (typeof expected === 'number' && expected >= from && expected <= to) return true;
  return isDeepStrictEqual(expected, value);
}

function read(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  return isRecord(value) ? read(ownValue(value, name), rest) : undefined;
}

/** Undefined removes the setting. */
function assign(holder: Record<string, unknown>, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined) return;
  if (rest.length === 0) {
    if (value === undefined) delete holder[name];
    else holder[name] = value;
    return;
  }
  if (!isRecord(holder[name])) {
    if (value === undefined) return;
    holder[name] = {};
  }
  assign(holder[name] as Record<string, unknown>, rest, value);
}

/** The first lines of the file, as comments. */
interface DialectHead {
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
