import type { OptionIn } from '../../config/options.ts';
import { checkSecret } from '../../config/target.ts';
import type { EmulatorOptions } from '../../emulator/options.ts';
import { readText, type Stdin } from '../../files/read-text.ts';
import { nameOf } from '../../files/refusal.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { CommandContext } from '../command.ts';

type EmulatorSetting = OptionIn<'emulator' | 'access'>;
type EmulatorContext = Pick<
  CommandContext<EmulatorSetting>,
  'settings' | 'io' | 'stdin' | 'signal' | 'awaits'
>;

/** Settings of a command with `--local`, which may have only some of them. */
export interface LocalContext extends Pick<CommandContext<never>, 'io' | 'stdin' | 'signal' | 'awaits'> {
  settings: Partial<CommandContext<OptionIn<'emulator'>>['settings']>;
}

/** The emulator's options from the flags of `serve` and `exec`. Reads the dialect, the scenario and the accepted keys. */
export async function readEmulatorSettings(context: EmulatorContext): Promise<EmulatorOptions> {
  const { settings } = context;
  return {
    ...(await localSettings(context)),
    allowHosts: settings.allowHost,
    allowOrigins: settings.allowOrigin,
    acceptKeys: await acceptedKeys(settings, context),
  };
}

/** The options for an emulator's behaviour, without its access rules. Reads the dialect and the scenario. */
export async function localSettings(context: LocalContext): Promise<EmulatorOptions> {
  const { settings, io, signal } = context;
  const { reply, speed, rateLimit, maxConnections, seed, fault = [], network, scenario, dialect } = settings;
  const given = {
    clock: io.clock,
    reply,
    signal,
    replaySpeed: speed,
    rateLimit,
    maxConnections,
    seed,
    faults: network === undefined ? fault : [...fault, network],
    scenario: scenario === undefined ? undefined : await openScenario(scenario, context),
    dialect: dialect === undefined ? undefined : await loadDialect(dialect, context),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

async function openScenario(file: string, input: Stdin) {
  const { readScenario } = await import('../../emulator/scenario/read-scenario.ts');
  return readScenario(file, input);
}

export async function loadDialect(file: string, input: Stdin) {
  const { readDialect } = await import('../../config/dialect-file.ts');
  return readDialect(await readText(file, input), file);
}

/** The accepted keys of the flags; empty for any key. Throws `bad-input` for an empty file. */
export async function acceptedKeys(
  { acceptKey, acceptKeyFile }: Pick<EmulatorContext['settings'], 'acceptKey' | 'acceptKeyFile'>,
  input: Stdin,
): Promise<string[]> {
  if (acceptKeyFile === undefined) return acceptKey.map((key) => checkSecret(key, 'An accepted API key'));
  const lines = (await readText(acceptKeyFile, input)).split('\n').map((line) => line.trim());
  const keys = lines.filter((line) => line !== '');
  // An empty list would accept any key, which the user did not ask for.
  if (keys.length === 0)
    throw new VoicectlError('bad-input', `There is no API key in ${nameOf(acceptKeyFile)}`);
  return [...acceptKey, ...keys].map((key) => checkSecret(key, 'An accepted API key'));
}
