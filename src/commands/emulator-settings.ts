import type { emulatorOptions } from '../config/options.ts';
import { readText } from '../config/target.ts';
import type { EmulatorOptions } from '../emulator/emulator.ts';
import type { CommandContext } from './command.ts';

type EmulatorSetting = (typeof emulatorOptions)[number];

/** What the flags of `serve` and `exec` ask of the emulator. Reads the dialect and the accepted keys. */
export async function emulatorSettings({
  settings,
  io,
}: Pick<CommandContext<EmulatorSetting>, 'settings' | 'io'>): Promise<EmulatorOptions> {
  const { reply, rateLimit, maxConnections, seed, allowHost, allowOrigin, dialect } = settings;
  return {
    reply,
    rateLimit,
    maxConnections,
    allowHosts: allowHost,
    allowOrigins: allowOrigin,
    acceptKeys: await acceptedKeys(settings, io.stdin),
    ...(seed === undefined ? {} : { seed }),
    ...(dialect === undefined ? {} : { dialect: await loadDialect(dialect, io.stdin) }),
  };
}

async function loadDialect(file: string, stdin: CommandContext<EmulatorSetting>['io']['stdin']) {
  const { readDialect } = await import('../config/dialect-file.ts');
  return readDialect(await readText(file, stdin), file);
}

async function acceptedKeys(
  { acceptKey, acceptKeyFile }: CommandContext<EmulatorSetting>['settings'],
  stdin: CommandContext<EmulatorSetting>['io']['stdin'],
): Promise<string[]> {
  if (acceptKeyFile === undefined) return acceptKey;
  const lines = (await readText(acceptKeyFile, stdin)).split('\n').map((line) => line.trim());
  return [...acceptKey, ...lines.filter((line) => line !== '')];
}
