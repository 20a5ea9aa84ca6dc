import type { emulatorOptions } from '../../config/options.ts';
import type { EmulatorOptions } from '../../emulator/options.ts';
import { readText, type Stdin } from '../../files/read-text.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { CommandContext } from '../command.ts';

type EmulatorSetting = (typeof emulatorOptions)[number];

/** What the flags of `serve` and `exec` ask of the emulator. Reads the dialect and the accepted keys. */
export async function emulatorSettings({
  settings,
  io,
  signal,
}: Pick<CommandContext<EmulatorSetting>, 'settings' | 'io' | 'signal'>): Promise<EmulatorOptions> {
  const { reply, rateLimit, maxConnections, seed, fault, allowHost, allowOrigin, dialect, scenario } =
    settings;
  const input = { stdin: io.stdin, signal };
  return {
    reply,
    replaySpeed: settings.speed,
    rateLimit,
    maxConnections,
    allowHosts: allowHost,
    allowOrigins: allowOrigin,
    faults: fault,
    acceptKeys: await acceptedKeys(settings, input),
    ...(seed === undefined ? {} : { seed }),
    ...(scenario === undefined ? {} : { scenario: await openScenario(scenario, input) }),
    ...(dialect === undefined ? {} : { dialect: await loadDialect(dialect, input) }),
  };
}

async function openScenario(file: string, input: Stdin) {
  const { readScenario } = await import('../../emulator/scenario/read-scenario.ts');
  return readScenario(file, input);
}

async function loadDialect(file: string, input: Stdin) {
  const { readDialect } = await import('../../config/dialect-file.ts');
  return readDialect(await readText(file, input), file);
}

async function acceptedKeys(
  { acceptKey, acceptKeyFile }: CommandContext<EmulatorSetting>['settings'],
  input: Stdin,
): Promise<string[]> {
  if (acceptKeyFile === undefined) return acceptKey;
  const lines = (await readText(acceptKeyFile, input)).split('\n').map((line) => line.trim());
  const keys = lines.filter((line) => line !== '');
  // Without a key any would be accepted, which is not what was asked for.
  if (keys.length === 0) throw new VoicectlError('bad-input', `There is no API key in ${acceptKeyFile}`);
  return [...acceptKey, ...keys];
}
