import { emulatorOptions, type OptionName } from '../config/options.ts';
import type { EmulatorEvent } from '../emulator/events.ts';
import { defineCommand } from './command.ts';

export const serveOptions = [
  'host',
  'port',
  ...emulatorOptions,
  'controlSecretFile',
  'readyFile',
] as const satisfies OptionName[];

export const serveCommand = defineCommand({
  name: 'serve',
  summary: 'run the emulator of the whole service: token endpoint and voice stream',
  options: serveOptions,
  examples: [
    'voicectl serve',
    'voicectl serve --port 0 --reply echo --json',
    'voicectl serve --dialect dialect.yaml',
  ],
  async run(context) {
    const { settings, io, json, quiet, signal, style, note } = context;
    const { createEmulator } = await import('../emulator/emulator.ts');
    const { emulatorLines } = await import('../report/emulator-lines.ts');
    const { jsonLine } = await import('../escape.ts');
    const { createPrinter } = await import('../report/printer.ts');
    const { emulatorSettings } = await import('./emulator-settings.ts');
    const { startLines } = await import('../report/start-lines.ts');
    const { randomBytes } = await import('node:crypto');
    const { isLoopbackHost } = await import('../protocol/loopback.ts');
    const { readControlSecret } = await import('./control-secret.ts');
    const { writeReadyFile } = await import('./ready-file.ts');

    const options = await emulatorSettings(context);
    const given = await readControlSecret(context);
    const controlSecret = given ?? randomBytes(24).toString('base64url');
    const printer = createPrinter(io.stdout, (count) =>
      json
        ? jsonLine({ type: 'left-out', count })
        : `(${count} lines left out: the output is read too slowly)\n`,
    );
    const ended = new Promise<unknown>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
      printer.failed.then(resolve);
    });
    const anyKey = options.acceptKeys?.length === 0;
    const linesOf = (event: EmulatorEvent) =>
      event.type === 'listening'
        ? startLines(event, { reply: settings.reply, anyKey }, style)
        : emulatorLines(event, style);
    const emulator = await createEmulator({
      ...options,
      host: settings.host,
      port: settings.port,
      controlSecret,
      onEvent(event) {
        if (json) printer.print(jsonLine(event));
        else if (!quiet) for (const line of linesOf(event)) printer.print(`${line}\n`);
      },
    });
    if (given === undefined && !isLoopbackHost(settings.host)) {
      await note(`To control it from this machine: export VOICECTL_CONTROL_SECRET=${controlSecret}`);
    }
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
