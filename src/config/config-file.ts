import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Loader, lilconfig } from 'lilconfig';
import { VoicectlError } from '../kernel/errors.ts';
import { isRecord } from '../protocol/error-body.ts';
import { type OptionName, optionSpec, options } from './options.ts';

/** The settings of a config file as written. `source` names the file in errors. */
export interface ConfigLayer {
  source: string;
  origin: 'profile' | 'file';
  values: Partial<Record<OptionName, unknown>>;
}

export interface ConfigFileOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** `--config`: only this file. */
  path: string | undefined;
  /** `--profile`: must be there. */
  profile: string | undefined;
}

/** Most machines have no config file and need not load its reader. */
const loadYaml: Loader = async (path, content) => {
  const { parseSecretYaml } = await import('../files/yaml.ts');
  return parseSecretYaml(path, content);
};
const loaders = { '.yaml': loadYaml, '.json': loadYaml };
const fileNames = ['voicectl.config.yaml', 'voicectl.config.json'];

/**
 * Finds and reads the config file. The layers come strongest first: the profile, then the file itself.
 * Throws `bad-config`: no such file or profile, not YAML or JSON, an unknown setting, or a key in a file
 * that others can read.
 */
export async function readConfigFile(options: ConfigFileOptions): Promise<ConfigLayer[]> {
  const found = await findConfig(options);
  if (found === undefined) {
    if (options.profile === undefined) return [];
    throw new VoicectlError('bad-config', `There is no config file, so no profile ${options.profile}`);
  }
  const { path, config } = found;
  if (!isRecord(config)) throw new VoicectlError('bad-config', `${path}: expected a mapping of settings`);
  const { profiles = {}, ...rest } = config;
  const layers: ConfigLayer[] = [{ source: path, origin: 'file', values: await checkNames(rest, path) }];
  if (options.profile !== undefined) {
    const profile =
      isRecord(profiles) && Object.hasOwn(profiles, options.profile) ? profiles[options.profile] : undefined;
    const source = `${path}: profiles.${options.profile}`;
    if (!isRecord(profile)) throw new VoicectlError('bad-config', `${source}: there is no such profile`);
    layers.unshift({ source, origin: 'profile', values: await checkNames(profile, source) });
  }
  if (holdsKey(config)) await requirePrivate(path);
  return layers;
}

/** Whether the file has a key, even in a profile that is not used: others could read it. */
function holdsKey({ apiKey, profiles }: Record<string, unknown>): boolean {
  if (apiKey !== undefined) return true;
  return (
    isRecord(profiles) && Object.values(profiles).some((one) => isRecord(one) && one.apiKey !== undefined)
  );
}

async function findConfig({
  cwd,
  env,
  path,
}: ConfigFileOptions): Promise<{ path: string; config: unknown } | undefined> {
  const search = lilconfig('voicectl', { searchPlaces: fileNames, loaders, stopDir: cwd });
  try {
    if (path !== undefined)
      return await lilconfig('voicectl', { loaders: { ...loaders, noExt: loadYaml } })
        .load(path)
        .then(asFound);
    const here = await search.search(cwd);
    if (here !== null) return asFound(here);
    const own = join(env.XDG_CONFIG_HOME || join(env.HOME ?? homedir(), '.config'), 'voicectl');
    return asFound(
      await lilconfig('voicectl', {
        searchPlaces: ['config.yaml', 'config.json'],
        loaders,
        stopDir: own,
      }).search(own),
    );
  } catch (cause) {
    if (cause instanceof VoicectlError) throw cause;
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new VoicectlError(
      'bad-config',
      `Cannot read the config file${path === undefined ? '' : ` ${path}`}: ${why}`,
      { cause },
    );
  }
}

function asFound(result: { filepath: string; config: unknown } | null) {
  return result === null ? undefined : { path: result.filepath, config: result.config ?? {} };
}

/** A name from the file. Text that is not a word may be a key in the wrong place. */
function shownName(name: string): string {
  return /^[A-Za-z][A-Za-z-]{0,40}$/.test(name) ? `"${name}"` : 'with such a name';
}

/** Throws `bad-config` with each unknown setting and the one that was probably meant. */
async function checkNames(values: Record<string, unknown>, source: string): Promise<ConfigLayer['values']> {
  const known = Object.keys(options).filter((name) => !optionSpec(name as OptionName).flagOnly);
  const unknown = Object.keys(values).filter((name) => !known.includes(name));
  if (unknown.length === 0) return values;
  const { didYouMean } = await import('../protocol/suggestion.ts');
  const problems = unknown.map((name) => `there is no setting ${shownName(name)}${didYouMean(name, known)}`);
  throw new VoicectlError('bad-config', `${source}: ${problems.join('; ')}`);
}

async function requirePrivate(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return;
  throw new VoicectlError('bad-config', `${path} contains an API key and can be read by others`, {
    hint: `Run chmod 600 ${path}`,
  });
}
