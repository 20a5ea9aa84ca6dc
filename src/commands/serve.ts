import { emulatorOptions, type OptionName } from '../config/options.ts';
import type { EmulatorEvent } from '../emulator/events.ts';
import { defineCommand } from './command.ts';

export const serveOptions = [
  'host',
  'port',
  ...emulatorOptions,
  'tls',
  'cert',
  'key',
  'certOut',
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
    'voicectl serve --tls --cert-out cert.pem',
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
    const { writeWhole } = await import('./write-whole.ts');
    const { curlTrust, tlsSettings } = await import('./tls-settings.ts');

    const options = await emulatorSettings(context);
    const tls = await tlsSettings(settings, { stdin: io.stdin, signal });
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
    const print = (event: EmulatorEvent) => {
      if (json) printer.print(jsonLine(event));
      else if (!quiet) for (const line of linesOf(event)) printer.print(`${line}\n`);
    };
    const linesOf = (event: EmulatorEvent) => {
      if (event.type !== 'listening') return emulatorLines(event, style);
      const trust = curlTrust(emulator, settings.certOut ?? settings.cert);
      return startLines(event, { reply: settings.reply, anyKey, trust }, style);
    };
    // Whoever reads the first line may look for the files at once: until they are there nothing is said.
    const held: EmulatorEvent[] = [];
    let show = (event: EmulatorEvent): unknown => held.push(event);
    const emulator = await createEmulator({
      ...options,
      host: settings.host,
      port: settings.port,
      tls,
      controlSecret,
      onEvent: (event) => show(event),
    });
    if (given === undefined && !isLoopbackHost(settings.host)) {
      await note(`To control it from this machine: export VOICECTL_CONTROL_SECRET=${controlSecret}`);
    }
    try {
      const { certificate } = emulator;
      if (settings.certOut !== undefined && certificate !== undefined)
        await writeWhole(settings.certOut, certificate);
      if (settings.readyFile !== undefined) await writeReadyFile(settings.readyFile, emulator);
      show = print;
      held.forEach(print);
      if (!signal.aborted) await ended;
    } finally {
      await emulator.close();
    }
    await printer.flush();
    return 0;
  },
});
