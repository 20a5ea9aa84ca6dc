import { flagOf } from '../../config/options.ts';
import { createEmulator } from '../../emulator/emulator.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { emulatorLines } from '../../report/emulator-lines.ts';
import { createNotePrinter } from '../../report/printer.ts';
import { plainStyle } from '../../report/style.ts';
import { childEnvironment } from '../child/environment.ts';
import type { ContextOf } from '../command.ts';
import { readEmulatorSettings } from '../service/emulator-settings.ts';
import { runCommand } from './run-command.ts';

export async function run(context: ContextOf<'exec'>): Promise<number> {
  if (context.origin('target') === 'flag') {
    const { runThroughProxy } = await import('./through-proxy.ts');
    return runThroughProxy(context);
  }
  refuseProxyFlags(context);
  const { settings, verbose, note } = context;
  const options = await readEmulatorSettings(context);
  const notes = createNotePrinter(note);
  // A note is escaped whole, even its colours.
  const emulator = await createEmulator({
    ...options,
    tls: settings.tls ?? false,
    onEvent(event) {
      if (verbose) for (const line of emulatorLines(event, plainStyle)) notes.print(line);
    },
  });
  try {
    const { acceptKeys = [] } = options;
    const env = childEnvironment({ ...emulator, acceptKeys, device: settings.device });
    return await runCommand(context, env, emulator.certificate);
  } finally {
    await emulator.close();
    await notes.flush();
  }
}

const proxyFlags = ['failOn', 'proxyRecord', 'targetTimeout', 'targetWs', 'proxyPlaintext', 'ca'] as const;

/** Throws `usage` for a flag of the proxy without `--target`. In a config file, the same settings are for `proxy`. */
function refuseProxyFlags({ settings, origin }: ContextOf<'exec'>): void {
  const given = proxyFlags.find((name) => origin(name) === 'flag');
  if (given === undefined) return;
  throw new VoicectlError('usage', `${flagOf(given)} needs --target: an emulator has no service behind it`, {
    hint:
      settings.target && 'exec takes it from the command line only: the one of the config file is for proxy.',
  });
}
