import { VoicectlError } from '../kernel/errors.ts';
import { type ConfigLayer, readConfigFile } from './config-file.ts';
import { flagOf, type OptionName, optionSpec, type Settings } from './options.ts';

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
  if (flag !== undefined) return { value: parseValue(name, flag, flagOf(name), 'usage'), origin: 'flag' };
  const fromEnv = spec.env === undefined ? undefined : env[spec.env];
  if (spec.env !== undefined && fromEnv !== undefined && fromEnv !== '') {
    return { value: parseValue(name, fromEnv, spec.env, 'usage'), origin: 'env' };
  }
  for (const { values, source, origin } of layers) {
    const value = values[name];
    if (value !== undefined)
      return { value: parseValue(name, value, `${source}: ${name}`, 'bad-config'), origin };
  }
  if (spec.default !== undefined) return { value: spec.parse(spec.default), origin: 'default' };
  return spec.repeatable ? { value: [], origin: 'default' } : undefined;
}

function parseValue(name: OptionName, raw: unknown, where: string, code: 'usage' | 'bad-config'): unknown {
  const { parse, repeatable, preset } = optionSpec(name);
  const one = (value: unknown) => {
    if (value === true && preset !== undefined) return parse(preset);
    if (!['string', 'number', 'boolean'].includes(typeof value))
      return fail('expected a single value', value);
    try {
      return parse(String(value));
    } catch (thrown) {
      return fail((thrown as Error).message, value);
    }
  };
  const fail = (why: string, value: unknown): never => {
    const secret = name === 'apiKey' || name === 'acceptKey';
    const shown = secret ? 'the value' : JSON.stringify(value).replace(/\/\/[^@/]*@/, '//…@');
    throw new VoicectlError(code, `${where}: ${shown} is not valid: ${why}`);
  };
  if (!repeatable) return one(raw);
  return (Array.isArray(raw) ? raw : [raw]).map(one);
}
