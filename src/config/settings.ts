import { type FailureDetails, VoicectlError } from '../kernel/errors.ts';
import { type ConfigLayer, configPlaces, readConfigFile } from './config-file.ts';
import { newValue, oldKey, parseValue, pathUseOf, readValue } from './option.ts';
import { flagKey, flagOf, type OptionName, optionSpec, type Settings } from './options.ts';
import { findOverwrites, type NamedFile } from './overwrites.ts';

export { profileNames } from './config-file.ts';

/** What Commander has read: text, `true`, or a list, by the name of the option. */
export type Flags = Record<string, unknown>;

export interface SettingsInput {
  flags: Flags;
  env: Readonly<Record<string, string | undefined>>;
  /** Where a config file is looked for first. */
  cwd: string | undefined;
  /** The files of the positional arguments, which are read. */
  inputs?: readonly Pick<NamedFile, 'label' | 'path'>[];
  /** Ends the wait for a config file that is a pipe. */
  signal?: AbortSignal;
}

/** The sources of a value, in order of precedence. */
export const origins = ['flag', 'env', 'profile', 'file', 'default'] as const;
export type Origin = (typeof origins)[number];

export interface ResolvedSettings<Names extends OptionName> {
  settings: Settings<Names>;
  /** Where each value came from. Undefined without a value. */
  origin(name: Names): Origin | undefined;
  /** A line for each old name that was used, with the new one. */
  renamed: readonly string[];
}

interface Found {
  value: unknown;
  origin: Origin;
}

/** A mistake of the command line or the environment. */
interface Mistake {
  message: string;
  hint: string | undefined;
  /** The flag or variable, its value in a form that may be shown, and what was expected. */
  detail: { path: string; value: unknown; expected: string };
}

/**
 * The settings of a command, each from the strongest place that has it: flag, environment, profile,
 * config file, default. Throws every mistake at once: `usage` for flags and variables, `bad-config` for the file alone.
 */
export async function resolveSettings<const Names extends OptionName>(
  names: readonly Names[],
  input: SettingsInput,
): Promise<ResolvedSettings<Names>> {
  const { flags, env, cwd } = input;
  const mistakes: Mistake[] = [];
  const renamed: string[] = [];
  const read = async (name: OptionName, layers: readonly ConfigLayer[] = []) =>
    (await readGiven(name, { flags, env, mistakes, renamed })) ?? readRest(name, layers, renamed);
  const [path, profile] = [await read('config'), await read('profile')];
  const layers = await readConfigFile({
    cwd,
    env,
    path: path?.value as string,
    profile: profile?.value as string,
    signal: input.signal,
  }).catch(async (thrown: unknown) => {
    input.signal?.throwIfAborted();
    // Mistakes of the command line are reported before those of the file.
    const given = new Map<OptionName, Found | undefined>([['config', path]]);
    for (const name of names) given.set(name, await read(name));
    mistakes.push(...(await refuseOverwrites(names, given, input)));
    throw mistakes.length === 0 ? thrown : refusal(mistakes, thrown);
  });
  mistakes.length = 0;
  renamed.length = 0;
  const found = new Map<OptionName, Found | undefined>();
  for (const name of new Set<OptionName>(['config', 'profile', ...names]))
    found.set(name, await read(name, layers));
  // --json is short for --output json.
  const output = found.get('output');
  if (output?.value === 'json' && found.get('json') === undefined)
    found.set('json', { ...output, value: true });
  mistakes.push(...findConflicts(names, found), ...(await refuseOverwrites(names, found, input)));
  if (mistakes.length > 0) throw refusal(mistakes);
  const settings = Object.fromEntries(names.map((name) => [name, found.get(name)?.value]));
  return {
    settings: settings as Settings<Names>,
    origin: (name) => found.get(name)?.origin,
    renamed,
  };
}

/** The value of a flag, before the others are read; undefined if it is not given or not valid. */
export async function readFlag(name: OptionName, flags: Flags): Promise<unknown> {
  const raw = flags[flagKey(name)];
  return raw === undefined ? undefined : readValue(optionSpec(name), raw, () => {});
}

interface Given extends Pick<SettingsInput, 'flags' | 'env'> {
  mistakes: Mistake[];
  renamed: string[];
}

/** The value of a flag, or else of the environment. */
async function readGiven(
  name: OptionName,
  { flags, env, mistakes, renamed }: Given,
): Promise<Found | undefined> {
  const spec = optionSpec(name);
  const readAs = (where: string, raw: unknown) => {
    for (const one of [raw].flat()) {
      const now = newValue(spec, one);
      if (now !== undefined) renamed.push(`${where} ${one} is now called ${where} ${now}`);
    }
    return readValue(spec, raw, ({ value, why }) => {
      const shown = spec.secret ? 'the value' : JSON.stringify(value);
      mistakes.push({
        message: `${where}: ${shown} is not valid: ${why}`,
        hint: spec.hint,
        detail: { path: where, value, expected: why.replace(/^expected /, '') },
      });
    });
  };
  const [now, before] = [flags[flagKey(name)], flags[oldKey(spec) ?? '']];
  if (before !== undefined) renamed.push(`--${spec.old} is now called ${flagOf(name)}`);
  const given = [
    ...(before === undefined ? [] : [await readAs(`--${spec.old}`, before)]),
    ...(now === undefined ? [] : [await readAs(flagOf(name), now)]),
  ];
  if (given.length > 1 && !spec.repeatable)
    mistakes.push(conflict(name, `cannot be combined with --${spec.old}`, 'that is its earlier name'));
  if (given.length > 0) return { value: spec.repeatable ? given.flat() : given[0], origin: 'flag' };
  const fromEnv = spec.env === undefined ? undefined : env[spec.env];
  if (spec.env === undefined || fromEnv === undefined || fromEnv.trim() === '') return undefined;
  return { value: await readAs(spec.env, fromEnv), origin: 'env' };
}

/** The value of the config file, which was checked, or the default. */
async function readRest(
  name: OptionName,
  layers: readonly ConfigLayer[],
  renamed: string[],
): Promise<Found | undefined> {
  const spec = optionSpec(name);
  for (const { values, origin, placeOf } of layers) {
    const key = [name, oldKey(spec)].find((one) => one !== undefined && values[one] !== undefined);
    if (key === undefined) continue;
    if (key !== name) renamed.push(`${placeOf(key, 'key')}: ${key} is now called ${name}`);
    const now = newValue(spec, values[key]);
    if (now !== undefined)
      renamed.push(`${placeOf(key, 'value')}: ${key}: ${values[key]} is now called ${now}`);
    return { value: await readValue(spec, values[key], () => {}), origin };
  }
  if (spec.default !== undefined) return { value: await parseValue(spec, spec.default), origin: 'default' };
  return spec.repeatable ? { value: [], origin: 'default' } : undefined;
}

/** The settings that a given one lacks, or excludes, by its row. */
function findConflicts(
  names: readonly OptionName[],
  found: ReadonlyMap<OptionName, Found | undefined>,
): Mistake[] {
  const isSet = (name: OptionName) => {
    const value = found.get(name)?.value;
    return value !== undefined && value !== false;
  };
  const isFlag = (name: OptionName) => isSet(name) && found.get(name)?.origin === 'flag';
  const isGiven = (name: OptionName) => isSet(name) && found.get(name)?.origin !== 'default';
  return names.flatMap((name) => {
    const { needs = {}, without = {}, default: byDefault } = optionSpec(name);
    const hasDefault = byDefault !== undefined;
    const known = ([other]: [string, string]) => found.has(other as OptionName);
    const entries = (row: Readonly<Record<string, string>>) =>
      Object.entries(row).filter(known) as [OptionName, string][];
    // A config file cannot set what is only for a command line, and its settings may be meant for another command. Where
    // there is a default, a run without the other setting has a value too, which has no effect.
    const isForOthers = (other: OptionName) => optionSpec(other).flagOnly || hasDefault;
    const lacking = entries(needs).filter(
      ([other]) => !isSet(other) && (isForOthers(other) ? isFlag(name) : isGiven(name)),
    );
    const excluded = entries(without).filter(([other]) => isFlag(name) && isFlag(other));
    return [
      ...lacking.map(([other, why]) => conflict(name, `needs ${flagOf(other)}`, why)),
      ...excluded.map(([other, why]) => conflict(name, `cannot be combined with ${flagOf(other)}`, why)),
    ];
  });
}

/** Outputs that would be written over a file that the command reads, or over each other. */
async function refuseOverwrites(
  names: readonly OptionName[],
  found: ReadonlyMap<OptionName, Found | undefined>,
  { env, cwd, inputs = [] }: SettingsInput,
): Promise<Mistake[]> {
  const config = found.get('config')?.value as string | undefined;
  const configs = configPlaces({ cwd, env, path: config }).map((path) => ({
    label: 'the config file',
    path,
  }));
  const read = [...inputs, ...configs].map((one) => ({ ...one, use: 'read' as const, name: undefined }));
  const named = names.flatMap((name) => {
    const spec = optionSpec(name);
    const [use, value] = [pathUseOf(spec), found.get(name)?.value];
    const path = typeof value === 'string' ? (spec.fileIn ?? String)(value) : undefined;
    const isFile = use !== undefined && path !== undefined && path !== '-';
    return isFile ? [{ name, label: flagOf(name), path, use }] : [];
  });
  const overwrites = await findOverwrites<NamedFile & { name: OptionName | undefined }>([...named, ...read]);
  return overwrites.flatMap(({ file, other }) =>
    file.name === undefined ? [] : [conflict(file.name, `names the same file as ${other}`, '')],
  );
}

function conflict(name: OptionName, what: string, why: string): Mistake {
  return {
    message: `${flagOf(name)} ${what}${why === '' ? '' : `: ${why}`}`,
    hint: undefined,
    detail: { path: flagOf(name), value: undefined, expected: what },
  };
}

/** All mistakes as one error, followed by the mistakes of the config file. */
function refusal(mistakes: readonly Mistake[], ofFile?: unknown): VoicectlError {
  const file = ofFile instanceof VoicectlError ? ofFile : undefined;
  const messages = [...new Set(mistakes.map(({ message }) => message)), ...(file ? [file.message] : [])];
  const hints = new Set(mistakes.map(({ hint }) => hint));
  const problems: FailureDetails['problems'] = [
    ...mistakes.map(({ detail }) => detail),
    ...(file?.details.problems ?? []),
  ];
  return new VoicectlError('usage', messages.join('; '), {
    // Only a hint that all share: several hints would say less than the messages.
    hint: hints.size === 1 ? mistakes[0]?.hint : undefined,
    details: { problems },
  });
}
