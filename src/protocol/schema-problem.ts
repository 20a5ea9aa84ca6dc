import type * as z from 'zod';

/** One problem of a value from outside: where it is, the value, and what was expected. */
export interface SchemaProblem {
  path: string;
  value: unknown;
  expected: string;
}

/** Names of settings whose values are never shown. */
export type SecretNames = ReadonlySet<PropertyKey>;

/** In place of a value that is not shown. */
export const hidden = '(hidden)';
/** In place of a text that may be a secret. */
export const someText = '(some text)';
const aList = '(a list)';
const anObject = '(an object)';
const kinds: readonly unknown[] = [hidden, someText, aList, anObject];

/** A value, or the kind of a list or an object. */
export function valueOrKind(value: unknown): unknown {
  if (Array.isArray(value)) return aList;
  return typeof value === 'object' && value !== null ? anObject : value;
}

/** The value of a problem, as it is shown. */
export function shownValueText(value: unknown): string {
  if (value === undefined) return 'missing';
  return typeof value === 'number' || kinds.includes(value) ? String(value) : JSON.stringify(value);
}

/** What is expected of a setting that does not exist. */
export const noSuchSetting = 'no such setting';
const noSecrets: SecretNames = new Set();

/**
 * How to call a schema for a value that is read once: problems include the value, and no code is compiled for the schema,
 * which would take longer than reading it.
 */
export const readOnce = { reportInput: true, jitless: true } as const;

/** Makes an issue for each unknown key. A schema reports the unknown keys of a mapping together. */
export function eachIssue(issues: readonly z.core.$ZodIssue[] = []): z.core.$ZodIssue[] {
  return issues.flatMap<z.core.$ZodIssue>((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : issue,
  );
}

/** What a schema found, in our words. Call the schema with `readOnce`, so that the values are known. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[] | undefined,
  secrets: SecretNames = noSecrets,
): SchemaProblem[] {
  return eachIssue(issues).map((issue) => describeIssue(issue, secrets));
}

export function describeIssue(issue: z.core.$ZodIssue, secrets: SecretNames = noSecrets): SchemaProblem {
  const inner = nearestIssue(issue);
  const path = pathText(issuePath(inner));
  // A misspelt or misplaced `secret` is a secret too.
  if (inner.code === 'unrecognized_keys') return { path, value: hidden, expected: noSuchSetting };
  return { path, value: show(inner, secrets), expected: expectation(inner) };
}

/** A problem in words. `unknown`: what to say if there is no such setting. */
export function schemaProblemText(
  { path, value, expected }: SchemaProblem,
  unknown = `${path}: ${noSuchSetting}`,
): string {
  return expected === noSuchSetting ? unknown : `${path} is ${shownValueText(value)}, expected ${expected}`;
}

/** Where an issue is. For an unknown setting: the setting, not its parent. */
export function issuePath(issue: z.core.$ZodIssue): PropertyKey[] {
  const inner = nearestIssue(issue);
  return inner.code === 'unrecognized_keys' ? [...inner.path, inner.keys[0] ?? ''] : inner.path;
}

/** The first issue of the union's alternative that is closest to the value: the one with few, deep issues. */
function nearestIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const within = issue.errors.flatMap((issues) => {
    const first = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
    if (first === undefined) return [];
    const nested = nearestIssue(first);
    return [
      {
        count: issues.length,
        issue: { ...nested, path: [...issue.path, ...nested.path] } as z.core.$ZodIssue,
      },
    ];
  });
  const depth = (one: z.core.$ZodIssue) => issuePath(one).length;
  const isShallow = (one: { issue: z.core.$ZodIssue }) => depth(one.issue) <= issue.path.length;
  // An alternative that fits the kind of the value is nearer than one that does not.
  const [nearest] = within.toSorted(
    (a, b) =>
      Number(isShallow(a)) - Number(isShallow(b)) || a.count - b.count || depth(b.issue) - depth(a.issue),
  );
  return nearest !== undefined && depth(nearest.issue) > issue.path.length ? nearest.issue : issue;
}

/** The value, if it may be shown: a whole section, or a value instead of one, may contain a secret. */
function show(issue: z.core.$ZodIssue, secrets: SecretNames): unknown {
  const { input, path } = issue;
  const isSection = issue.code === 'invalid_type' && issue.expected === 'object';
  const mayHoldSecret =
    path.some((key) => secrets.has(key)) || (secrets.size > 0 && isSection && typeof input === 'string');
  return mayHoldSecret && input !== undefined ? hidden : valueOrKind(input);
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'invalid_union': {
      const own = /^expected (.*)$/i.exec(issue.message)?.[1];
      if (own !== undefined) return own;
      const within = issue.errors.flatMap(([first]) => (first === undefined ? [] : [expectation(first)]));
      return [...new Set(within)].join(' or ') || issue.message;
    }
    default:
      return issue.message.replace(/^.*?expected /i, '');
  }
}

function pathText(path: readonly PropertyKey[]): string {
  return path.length === 0 ? '(root)' : path.map(String).join('.');
}
