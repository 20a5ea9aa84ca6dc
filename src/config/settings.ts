import { VoicectlError } from '../kernel/errors.ts';
import { type ConfigLayer, readConfigFile } from './config-file.ts';
import { flagOf, type OptionName, optionSpec, type Settings } from './options.ts';
import { readValue, secretSettings, shownValue } from './read-value.ts';

/** What Commander has read: text, `true`, or a list, by the name of the option. */
export type Flags = Record<string, unknown>;

export interface SettingsInput {
  flags: Flags;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

/** Where a value came from, in the order of precedence. */
export const origins = ['flag', 'env', 'profile', 'file', 'default'] as const;
export type Origin = (typeof origins)[number];

export interface ResolvedSettings<Names extends OptionName> {
  settings: Settings<Names>;
  /** Where each value came from. Undefined without a value. */
  origin(name: Names): Origin | undefined;
}

/**
 * The settings of a command, each from the strongest place that has it: flag, environment, profile,
 * config file, default. Throws `usage` for a bad flag or variable, `bad-config` for a bad file.
 */
export async function resolveSettings<const Names extends OptionName>(
  names: readonly Names[],
  { flags, env, cwd }: SettingsInput,
): Promise<ResolvedSettings<Names>> {
  const path = readOne('config', flags, env, []);
  const profile = readOne('profile', flags, env, []);
  const layers = await readConfigFile({
    cwd,
    env,
    path: path?.value as string,
    profile: profile?.value as string,
  });
  const found = new Map(names.map((name) => [name, readOne(name, flags, env, layers)]));
  const settings = Object.fromEntries(names.map((name) => [name, found.get(name)?.value]));
  return {
    settings: settings as Settings<Names>,
    origin: (name) => found.get(name)?.origin,
  };
}

interface Found {
  value: unknown;
  origin: Origin;
}

function readOne(
  name: OptionName,
  flags: Flags,
  env: SettingsInput['env'],
  layers: readonly ConfigLayer[],
): Found | undefined {
  const spec = optionSpec(name);
  const flag = flags[spec.key ?? name];
  if (flag !== undefined) return { value: readGiven(name, flag, flagOf(name)), origin: 'flag' };
  const fromEnv = spec.env === undefined ? undefined : env[spec.env];
  if (spec.env !== undefined && fromEnv !== undefined && fromEnv !== '') {
    return { value: readGiven(name, fromEnv, spec.env), origin: 'env' };
  }
  for (const { values, origin } of layers) {
    const value = values[name];
    if (value !== undefined) return { value: readValue(name, value), origin };
  }
  if (spec.default !== undefined) return { value: spec.parse(spec.default), origin: 'default' };
  return spec.repeatable ? { value: [], origin: 'default' } : undefined;
}

/** Throws `usage`: a wrong value of a flag or variable. */
function readGiven(name: OptionName, raw: unknown, where: string): unknown {
  try {
    return readValue(name, raw);
  } catch (thrown) {
    const shown = secretSettings.has(name) ? 'the value' : JSON.stringify(shownValue(name, raw));
    throw new VoicectlError('usage', `${where}: ${shown} is not valid: ${(thrown as Error).message}`);
  }
}
