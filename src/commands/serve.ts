import { emulatorOptions } from '../config/options.ts';
import { defineCommand } from './command.ts';
import type { ServeContext, ServeView } from './serve-view.ts';

export const serveCommand = defineCommand({
  name: 'serve',
  summary: 'run the emulator of the whole service: token endpoint and voice stream',
  options: ['host', 'port', ...emulatorOptions, 'controlSecretFile', 'readyFile', 'ascii'],
  examples: [
    'voicectl serve',
    'voicectl serve --port 0 --reply echo --json',
    'voicectl serve --dialect dialect.yaml',
  ],
  async run(context) {
    const { settings, signal } = context;
    const { createEmulator } = await import('../emulator/emulator.ts');
    const { emulatorSettings } = await import('./emulator-settings.ts');
    const { randomBytes } = await import('node:crypto');
    const { isLoopbackHost } = await import('../protocol/loopback.ts');
    const { readControlSecret } = await import('./control-secret.ts');
    const { writeReadyFile } = await import('./ready-file.ts');

    const options = await emulatorSettings(context);
    const given = await readControlSecret(context);
    const controlSecret = given ?? randomBytes(24).toString('base64url');
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const view = await openView(context, { anyKey: options.acceptKeys?.length === 0 });
    try {
      const emulator = await createEmulator({
        ...options,
        host: settings.host,
        port: settings.port,
        controlSecret,
        onEvent: view.show,
      });
      try {
        view.attach(emulator);
        if (given === undefined && !isLoopbackHost(settings.host)) {
          await view.note(`To control it from this machine: export VOICECTL_CONTROL_SECRET=${controlSecret}`);
        }
        if (settings.readyFile !== undefined) await writeReadyFile(settings.readyFile, emulator);
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
    const { createServeLines } = await import('./serve-view.ts');
    return createServeLines(context, { anyKey });
  }
  const { createServeScreen } = await import('./serve-screen.ts');
  return createServeScreen(context, { device: io.terminal, anyKey });
}
