import { isDeepStrictEqual } from 'node:util';
import { tokenLifetimeSeconds as usual } from '../../protocol/claims.ts';
import type { Dialect, DialectInput } from '../../protocol/dialect.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { ownValue } from '../../protocol/parse-json.ts';
import type { Lesson } from './infer.ts';
import type { LearnedValue } from './setting.ts';

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
  const ofSettings = settings.flatMap(({ setting: { path }, learned }) => {
    if (!('value' in learned)) return [];
    const expected = read(dialect, path.split('.'));
    const { value: found, evidence } = learned;
    return shows(learned, expected) ? [] : [{ path, expected, found, evidence }];
  });
  return [...ofSettings, ...ofLifetime];
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
