import type {
  ControlCall,
  FromEmulator,
  ServedControl,
  ServedEmulator,
  ToEmulator,
} from '../../../cluster/processes/messages.ts';
import { toVoicectlError } from '../../../kernel/errors.ts';
import { emulatorSettings } from '../../service/emulator-settings.ts';
import type { ServeRunContext } from '../context.ts';
import { openEmulator } from '../open-emulator.ts';

/** One of the processes of `serve --processes`: runs an emulator, and tells the first process all about it. */
export async function runEmulatorProcess(context: ServeRunContext): Promise<number> {
  const { settings, signal } = context;
  const tell = (message: FromEmulator) => {
    // Without a first process nobody listens any more, and this one ends.
    if (process.connected) process.send?.(message);
  };
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    process.once('disconnect', resolve);
    process.on('message', (message: ToEmulator) => {
      if (message.type === 'stop') resolve();
    });
  });
  try {
    const { tls, controlSecret } = await startOrder(() => tell({ type: 'hears' }));
    const options = await emulatorSettings(context);
    const { emulator, controlSecret: secret } = await openEmulator(settings, {
      ...{ ...options, tls, controlSecret },
      host: settings.host,
      port: settings.port,
      onEvent: (event) => tell({ type: 'event', event }),
    });
    process.on('message', (message: ToEmulator) => {
      if (message.type === 'call') void answer(emulator, message, tell);
    });
    const { baseUrl, wsUrl, port, lan, certificate } = emulator;
    tell({ type: 'ready', facts: { baseUrl, wsUrl, port, lan, certificate, controlSecret: secret } });
    await stopped;
    await emulator.close();
  } catch (thrown) {
    const { code, message, hint } = toVoicectlError(thrown);
    tell({ type: 'failed', code, message, hint });
  }
  if (process.connected) process.disconnect();
  return 0;
}

function startOrder(hears: () => void): Promise<ToEmulator & { type: 'start' }> {
  return new Promise((resolve) => {
    process.on('message', (message: ToEmulator) => {
      if (message.type === 'start') resolve(message);
    });
    hears();
  });
}

async function answer(
  { control }: Pick<ServedEmulator, 'control'>,
  { id, name, args }: ToEmulator & { type: 'call' },
  tell: (message: FromEmulator) => void,
): Promise<void> {
  try {
    tell({ type: 'result', id, result: await perform(control, name, args) });
  } catch (thrown) {
    const { code, message, hint } = toVoicectlError(thrown);
    tell({ type: 'refused', id, code, message, hint });
  }
}

function perform(control: ServedControl, name: ControlCall, args: unknown[]): unknown {
  const calls: Record<ControlCall, (...given: never[]) => unknown> = {
    state: control.state,
    time: control.time,
    advance: control.advance,
    send: control.send,
    close: control.close,
    'faults.add': control.faults.add,
    'faults.clear': control.faults.clear,
  };
  return calls[name](...(args as never[]));
}
