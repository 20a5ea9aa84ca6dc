import { inOrder, type PlacedProblem, type PlacedValue } from '../files/yaml-document.ts';
import { isRecord } from '../protocol/error-body.ts';
import { hidden, noSuchSetting, someText, valueOrKind } from '../protocol/schema-problem.ts';
import { suggestName } from '../protocol/suggestion.ts';
import { oldKey, readValue, type WrongValue } from './option.ts';
import { flagOf, type OptionName, optionNames, optionSpec, options } from './options.ts';

const known = optionNames.filter((name) => !optionSpec(name).flagOnly);
const knownAtRoot = [...known, 'profiles'];
/** Settings by their old keys. */
const renamed = new Map(known.map((name) => [oldKey(optionSpec(name)), name]));

/**
 * Every problem of a config file, with its place, in the order of the file. Checks each profile, even one that
 * is not used. Never shows a secret, or a name that may be a secret.
 */
export async function findConfigProblems({ value: config, placeOf }: PlacedValue): Promise<PlacedProblem[]> {
  const placed = ({ at, part, ...problem }: ConfigProblem): PlacedProblem => ({
    path: pathText(at),
    ...problem,
    ...placeOf(at, part),
  });
  return inOrder((await findProblems(config)).map(placed));
}

interface ConfigProblem {
  at: readonly (string | number)[];
  part: 'key' | 'value';
  value: unknown;
  expected: string;
  meant?: string;
}

async function findProblems(config: unknown): Promise<ConfigProblem[]> {
  if (!isRecord(config)) return [notAMapping(config, [])];
  const { profiles: written, ...settings } = config;
  const profiles = written ?? {};
  const problems = await checkSettings(settings, []);
  if (!isRecord(profiles)) return [...problems, notAMapping(profiles, ['profiles'])];
  for (const [name, one] of Object.entries(profiles)) {
    const at = ['profiles', name];
    if (isRecord(one)) problems.push(...(await checkSettings(one, at)));
    else if (one !== null) problems.push(notAMapping(one, at));
  }
  return problems;
}

function notAMapping(value: unknown, at: ConfigProblem['at']): ConfigProblem {
  // A text where a mapping is expected may be an API key.
  const shown = typeof value === 'string' ? someText : valueOrKind(value);
  return { at, part: 'value', value: shown, expected: 'a mapping of settings' };
}

async function checkSettings(
  settings: Record<string, unknown>,
  parent: ConfigProblem['at'],
): Promise<ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  for (const [name, value] of Object.entries(settings)) {
    const at = [...parent, name];
    const known = isKnown(name) ? name : renamed.get(name);
    if (known !== undefined)
      await readValue(optionSpec(known), value, (wrong) => problems.push(wrongValue(at, wrong)));
    else problems.push(unknownSetting(name, parent));
  }
  return problems;
}

function wrongValue(at: ConfigProblem['at'], { value, why, index }: WrongValue): ConfigProblem {
  const place = index === undefined ? at : [...at, index];
  return { at: place, part: 'value', value, expected: why.replace(/^expected /, '') };
}

function isKnown(name: string): name is OptionName {
  return known.includes(name as OptionName);
}

function unknownSetting(name: string, parent: ConfigProblem['at']): ConfigProblem {
  const at = [...parent, name];
  const meant = Object.hasOwn(options, name)
    ? `${flagOf(name as OptionName)} on the command line`
    : suggestName(name, parent.length === 0 ? knownAtRoot : known);
  const problem = { at, part: 'key', value: hidden, expected: noSuchSetting } as const;
  return meant === undefined ? problem : { ...problem, meant };
}

function pathText(at: ConfigProblem['at']): string {
  const [first, second, ...rest] = at;
  if (first === undefined) return '(root)';
  const inside = first === 'profiles' ? [shownProfile(second), ...rest.map(shownName)] : [second, ...rest];
  return [shownName(first), ...inside].filter((part) => part !== undefined).join('.');
}

/** A name from the file. A text that is not a word may be an API key in the wrong place. */
function shownName(name: string | number): string {
  return typeof name === 'number' || /^[A-Za-z][A-Za-z-]{0,40}$/.test(name) ? String(name) : hidden;
}

/** The user chooses the names of profiles. */
function shownProfile(name: string | number | undefined): string | undefined {
  return name === undefined || /^[\w.-]{1,40}$/.test(String(name)) ? name?.toString() : hidden;
}
