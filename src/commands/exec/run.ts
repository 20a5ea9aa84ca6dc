import { emulatorOptions } from '../../config/options.ts';
import { defineCommand } from '../command.ts';
import type { TrustFiles } from './trust-files.ts';

export const execCommand = defineCommand({
  name: 'exec',
  summary: 'start an emulator on a free port, run a command against it, exit with the command’s status',
  args: [['<command...>', 'the command and its arguments']],
  passThrough: true,
  options: [...emulatorOptions, 'tls', 'device'],
  examples: [
    'voicectl exec -- npm test',
    'voicectl exec --reply echo -- sh -c \'curl "$VOICECTL_BASE_URL"\'',
  ],
  async run(context) {
    const { settings, args, io, verbose, signal, note } = context;
    const { createEmulator } = await import('../../emulator/emulator.ts');
    const { emulatorLines } = await import('../../report/emulator-lines.ts');
    const { createStyle } = await import('../../report/style.ts');
    const { emulatorSettings } = await import('../service/emulator-settings.ts');
    const { defaultDevice, developmentKey } = await import('../../config/target.ts');
    const { runChild } = await import('./run-child.ts');
    const { writeTrustFiles } = await import('./trust-files.ts');

    const options = await emulatorSettings(context);
    // A note is escaped as a whole, colours included.
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
          VOICECTL_BASE_URL: emulator.baseUrl,
          VOICECTL_WS_URL: emulator.wsUrl,
          VOICECTL_API_KEY: options.acceptKeys?.[0] ?? developmentKey,
          VOICECTL_DEVICE: settings.device ?? defaultDevice(),
          ...trust?.env,
        },
      });
    } finally {
      await trust?.remove();
      await emulator.close();
    }
  },
});
