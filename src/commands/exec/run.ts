import { createEmulator } from '../../emulator/emulator.ts';
import { emulatorLines } from '../../report/emulator-lines.ts';
import { createStyle } from '../../report/style.ts';
import { childEnvironment } from '../child/environment.ts';
import { type TrustFiles, writeTrustFiles } from '../child/trust-files.ts';
import type { ContextOf } from '../command.ts';
import { emulatorSettings } from '../service/emulator-settings.ts';
import { runChild } from './run-child.ts';
import type { execSpec } from './spec.ts';

export async function run(context: ContextOf<typeof execSpec>): Promise<number> {
  const { settings, args, io, verbose, signal, note } = context;
  const options = await emulatorSettings(context);
  // A note is escaped whole, even its colours.
  const style = createStyle(false);
  const emulator = await createEmulator({
    ...options,
    tls: settings.tls ?? false,
    onEvent(event) {
      if (verbose) for (const line of emulatorLines(event, style)) void note(line);
    },
  });
  let trust: TrustFiles | undefined;
  try {
    if (emulator.certificate !== undefined) trust = await writeTrustFiles(emulator.certificate, io.env);
    return await runChild(args, {
      signal,
      onTerminal: io.stdin.isTTY === true,
      cwd: io.cwd,
      env: {
        ...io.env,
        ...childEnvironment({
          ...emulator,
          acceptKeys: options.acceptKeys ?? [],
          device: settings.device,
        }),
        ...trust?.env,
      },
    });
  } finally {
    await trust?.remove();
    await emulator.close();
  }
}
