import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { noStdin, readText } from '../files/read-text.ts';
import { fileExists } from '../files/shipped-file.ts';
import type { PlacedValue } from '../files/yaml-document.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { system } from '../kernel/system.ts';
import { isRecord } from '../protocol/error-body.ts';
import { ownValue } from '../protocol/parse-json.ts';

/** The settings of a config file, or of a profile, as written. They are valid. */
export interface ConfigLayer {
  origin: 'profile' | 'file';
  values: Readonly<Record<string, unknown>>;
  /** The place of a setting, or of its value, as `file:line:column`. */
  placeOf(name: string, part: 'key' | 'value'): string;
}

export interface ConfigFileOptions {
  /** Undefined if it was removed. */
  cwd: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  /** `--config`: only this file. */
  path: string | undefined;
  /** `--profile`: must exist. */
  profile: string | undefined;
  /** Ends the wait for a file that is a pipe. */
  signal?: AbortSignal | undefined;
}

const fileNames = ['voicectl.config.yaml', 'voicectl.config.yml', 'voicectl.config.json'];
const ownFileNames = ['config.yaml', 'config.json'];

/**
 * Finds and reads the config file. The layers come strongest first: the profile, then the file itself.
 * Throws `bad-config`: no such file or profile, not YAML or JSON, every unknown setting and wrong value
 * with its place, or a key in a file that others can read.
 */
export async function readConfigFile(options: ConfigFileOptions): Promise<ConfigLayer[]> {
  const found = await findConfig(options);
  if (found === undefined) {
    if (options.profile === undefined) return [];
    throw new VoicectlError(
      'bad-config',
      `There is no config file, so there is no profile ${options.profile}`,
    );
  }
  const { path } = found;
  const config = await checkConfig(found);
  const { profiles, ...values } = config;
  const placeIn =
    (...parent: string[]): ConfigLayer['placeOf'] =>
    (name, part) => {
      const { line, column } = found.placeOf([...parent, name], part);
      return `${path}:${line}:${column}`;
    };
  const layers: ConfigLayer[] = [{ origin: 'file', values, placeOf: placeIn() }];
  const { profile } = options;
  if (profile !== undefined) {
    const chosen = chooseProfile(profiles as Profiles, profile, path);
    layers.unshift({ origin: 'profile', values: chosen, placeOf: placeIn('profiles', profile) });
  }
  if (holdsKey(config)) await requirePrivate(path);
  return layers;
}

/** Where a config file is looked for. */
export function configPlaces({ cwd, env, path }: Pick<ConfigFileOptions, 'cwd' | 'env' | 'path'>): string[] {
  if (path !== undefined) return [path];
  const own = ownFolder(env);
  const here = cwd === undefined ? [] : fileNames.map((name) => join(cwd, name));
  return [...here, ...ownFileNames.map((name) => join(own, name))];
}

/** The names of the profiles of the config file, even of an invalid one; for completion, which waits for no pipe. */
export async function profileNames(options: Omit<ConfigFileOptions, 'profile'>): Promise<string[]> {
  const there = await Promise.all(configPlaces(options).map((place) => stat(place).catch(() => undefined)));
  if (there.some((one) => one?.isFile() === false)) return [];
  const found = await findConfig({ ...options, profile: undefined }).catch(() => undefined);
  const profiles = isRecord(found?.value) ? found.value.profiles : undefined;
  return isRecord(profiles) ? Object.keys(profiles) : [];
}

/** The profiles of a file that was checked. */
type Profiles = Record<string, Record<string, unknown> | null> | null | undefined;

/** Throws `bad-config` with every problem of the file, and the place of each. */
async function checkConfig({ path, ...file }: FoundConfig): Promise<Record<string, unknown>> {
  const { findConfigProblems } = await import('./config-problems.ts');
  const problems = await findConfigProblems(file);
  if (problems.length === 0) return file.value as Record<string, unknown>;
  const { problemsText } = await import('../files/yaml-document.ts');
  throw new VoicectlError('bad-config', problemsText(path, problems), {
    hint: 'docs/CLI.md lists the keys of the config file.',
    details: { problems },
  });
}

function chooseProfile(profiles: Profiles, name: string, path: string): Record<string, unknown> {
  const names = Object.keys(profiles ?? {});
  if (names.includes(name)) return ownValue(profiles ?? {}, name) ?? {};
  throw new VoicectlError('bad-config', `${path} has no profile ${name}`, {
    hint: names.length === 0 ? 'Add it under profiles.' : `Its profiles: ${names.join(', ')}.`,
  });
}

/** Whether the file has a key, even in an unused profile: others could read it. */
function holdsKey({ apiKey, profiles }: Record<string, unknown>): boolean {
  if (apiKey !== undefined) return true;
  return (
    isRecord(profiles) && Object.values(profiles).some((one) => isRecord(one) && one.apiKey !== undefined)
  );
}

/** The folder of the user's own config file. */
function ownFolder(env: ConfigFileOptions['env']): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME ?? homedir(), '.config'), 'voicectl');
}

interface FoundConfig extends PlacedValue {
  path: string;
  /** Only spaces: no other file is hidden by it. */
  isEmpty: boolean;
}

async function findConfig({ signal, ...options }: ConfigFileOptions): Promise<FoundConfig | undefined> {
  if (options.path !== undefined) return readConfig(resolve(options.path), signal);
  for (const place of configPlaces(options)) {
    const found = (await fileExists(place)) ? await readConfig(place, signal) : undefined;
    if (found?.isEmpty === false) return found;
  }
  return undefined;
}

/** The reader is loaded only if there is a config file: most machines have none. */
async function readConfig(path: string, signal = noStdin.signal): Promise<FoundConfig> {
  const content = await readText(path, { ...noStdin, signal }).catch((thrown) => {
    if (!(thrown instanceof VoicectlError) || thrown.code !== 'bad-input') throw thrown;
    throw new VoicectlError('bad-config', thrown.message, { cause: thrown, details: thrown.details });
  });
  const { parseSecretYaml } = await import('../files/yaml-document.ts');
  const { value, placeOf } = parseSecretYaml(path, content);
  return { path, isEmpty: content.trim() === '', value: value ?? {}, placeOf };
}

async function requirePrivate(path: string): Promise<void> {
  if (!system.hasFileModes) return;
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return;
  throw new VoicectlError('bad-config', `${path} contains an API key and can be read by others`, {
    hint: `Run chmod 600 ${path}`,
  });
}
