import { emulatorOptions, type OptionName } from '../../config/options.ts';
import type { EmulatorEvent } from '../../emulator/events.ts';
import { defineCommand } from '../command.ts';
import type { ServeContext, ServeView } from './view.ts';

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
  'ascii',
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
    const { settings, io, signal } = context;
    const { createEmulator } = await import('../../emulator/emulator.ts');
    const { emulatorSettings } = await import('../service/emulator-settings.ts');
    const { randomBytes } = await import('node:crypto');
    const { isLoopbackHost } = await import('../../protocol/loopback.ts');
    const { readControlSecret } = await import('../control/secret.ts');
    const { writeReadyFile } = await import('./ready-file.ts');
    const { writeWhole } = await import('../../files/write-whole.ts');
    const { curlTrust, tlsSettings } = await import('./tls-settings.ts');

    const options = await emulatorSettings(context);
    const tls = await tlsSettings(settings, { stdin: io.stdin, signal });
    const given = await readControlSecret(context);
    const controlSecret = given ?? randomBytes(24).toString('base64url');
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const view = await openView(context, { anyKey: options.acceptKeys?.length === 0 });
    try {
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
      try {
        if (given === undefined && !isLoopbackHost(settings.host)) {
          await view.note(`To control it from this machine: export VOICECTL_CONTROL_SECRET=${controlSecret}`);
        }
        const { certificate } = emulator;
        if (settings.certOut !== undefined && certificate !== undefined)
          await writeWhole(settings.certOut, certificate);
        if (settings.readyFile !== undefined) await writeReadyFile(settings.readyFile, emulator);
        view.attach(emulator, curlTrust(emulator, settings.certOut ?? settings.cert));
        show = view.show;
        held.forEach(view.show);
        if (!signal.aborted) await Promise.race([aborted, view.ended]);
      } finally {
        await emulator.close();
      }
    } finally {
      await view.close();
    }
    return 0;
  },
});

async function openView(context: ServeContext, { anyKey }: { anyKey: boolean }): Promise<ServeView> {
  const { io, output } = context;
  if (output !== 'tui' || io.terminal === undefined) {
    const { createServeLines } = await import('./view.ts');
    return createServeLines(context, { anyKey });
  }
  const { createServeScreen } = await import('./screen.ts');
  return createServeScreen(context, { device: io.terminal, anyKey });
}
