import { createEmulator } from '../../emulator/emulator.ts';
import { emulatorLines } from '../../report/emulator-lines.ts';
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
  const { settings, verbose, note } = context;
  const options = await readEmulatorSettings(context);
  // A note is escaped whole, even its colours.
  const emulator = await createEmulator({
    ...options,
    tls: settings.tls ?? false,
    onEvent(event) {
      if (verbose) for (const line of emulatorLines(event, plainStyle)) void note(line);
    },
  });
  try {
    const { acceptKeys = [] } = options;
    const env = childEnvironment({ ...emulator, acceptKeys, device: settings.device });
    return await runCommand(context, env, emulator.certificate);
  } finally {
    await emulator.close();
  }
}
