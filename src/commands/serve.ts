import { emulatorOptions } from '../config/options.ts';
import { defineCommand } from './command.ts';

export const serveCommand = defineCommand({
  name: 'serve',
  summary: 'run the emulator of the whole service: token endpoint and voice stream',
  options: ['host', 'port', ...emulatorOptions, 'readyFile'],
  examples: [
    'voicectl serve',
    'voicectl serve --port 0 --reply echo --json',
    'voicectl serve --dialect dialect.yaml',
  ],
  async run(context) {
    const { settings, io, json, quiet, signal, style } = context;
    const { createEmulator } = await import('../emulator/emulator.ts');
    const { emulatorLines } = await import('../report/emulator-lines.ts');
    const { jsonLine } = await import('../escape.ts');
    const { createPrinter } = await import('../report/printer.ts');
    const { emulatorSettings } = await import('./emulator-settings.ts');
    const { startLines } = await import('../report/start-lines.ts');
    const { writeReadyFile } = await import('./ready-file.ts');

    const options = await emulatorSettings(context);
    const printer = createPrinter(io.stdout);
    const ended = new Promise<unknown>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
      printer.failed.then(resolve);
    });
    const emulator = await createEmulator({
      ...options,
      host: settings.host,
      port: settings.port,
      onEvent(event) {
        if (json) printer.print(jsonLine(event));
        else if (event.type === 'listening' && !quiet)
          printer.print(startLines(event, options, style).join(''));
        else if (!quiet) for (const line of emulatorLines(event, style)) printer.print(`${line}\n`);
      },
    });
    try {
      if (settings.readyFile !== undefined) await writeReadyFile(settings.readyFile, emulator);
      if (!signal.aborted) await ended;
    } finally {
      await emulator.close();
    }
    await printer.flush();
    return 0;
  },
});
