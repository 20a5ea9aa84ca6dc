import { randomBytes } from 'node:crypto';
import { createEmulator } from '../../emulator/emulator.ts';
import type { EmulatorEvent } from '../../emulator/events.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import type { ContextOf } from '../command.ts';
import { readControlSecret } from '../control/secret.ts';
import { emulatorSettings } from '../service/emulator-settings.ts';
import { curlKey } from './curl-key.ts';
import { writeReadyFile } from './ready-file.ts';
import type { serveSpec } from './spec.ts';
import { curlTrust, tlsSettings } from './tls-settings.ts';
import type { ServeContext, ServeFacts, ServeView } from './view.ts';

export async function run(context: ContextOf<typeof serveSpec>): Promise<number> {
  const { settings, io, signal } = context;

  const options = await emulatorSettings(context);
  const tls = await tlsSettings(settings, { stdin: io.stdin, signal });
  const given = await readControlSecret(context);
  const controlSecret = given ?? randomBytes(24).toString('base64url');
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const isLoopback = isLoopbackHost(settings.host);
  const view = await openView(context, {
    key: curlKey(settings),
    ...(isLoopback ? { forwarded: given === undefined ? 'refused' : 'secret' } : {}),
  });
  try {
    // Print the first line only when the files exist: its reader may open them at once.
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
      if (given === undefined && !isLoopback) {
        await view.note(`To control it from this machine: export VOICECTL_CONTROL_SECRET=${controlSecret}`);
      }
      const { certificate } = emulator;
      if (settings.certOut !== undefined && certificate !== undefined)
        await writeWhole(settings.certOut, certificate, { giveUp: io.giveUp });
      if (settings.readyFile !== undefined) await writeReadyFile(settings.readyFile, emulator, io.giveUp);
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
}

async function openView(context: ServeContext, facts: ServeFacts): Promise<ServeView> {
  const { io, output } = context;
  if (output !== 'tui' || io.terminal === undefined) {
    const { createServeLines } = await import('./view.ts');
    return createServeLines(context, facts);
  }
  const { createServeScreen } = await import('./screen.ts');
  return createServeScreen(context, { device: io.terminal, ...facts });
}
