import { toVoicectlError } from '../../kernel/errors.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import type { FromEmulator, ProcessCall, ServedControl, ServedEmulator, ToEmulator } from './messages.ts';

export interface EmulatorProcessOptions {
  signal: AbortSignal;
  open(
    start: Pick<ToEmulator & { type: 'start' }, 'tls' | 'controlSecret'> & {
      onEvent: (event: EmulatorEvent) => void;
    },
  ): Promise<{ emulator: ServedEmulator; controlSecret: string }>;
}

/** One of several processes: runs an emulator, and reports everything to the first process. */
export async function runEmulatorProcess({ signal, open }: EmulatorProcessOptions): Promise<void> {
  const report = (message: FromEmulator) => {
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
    const { tls, controlSecret } = await startOrder(() => report({ type: 'hears' }));
    const onEvent = (event: EmulatorEvent) => report({ type: 'event', event });
    const opened = await open({ tls, controlSecret, onEvent });
    const { emulator } = opened;
    process.on('message', (message: ToEmulator) => {
      if (message.type === 'call') void answer(emulator, message, report);
    });
    const { baseUrl, wsUrl, port, lan, certificate } = emulator;
    report({
      type: 'ready',
      facts: { baseUrl, wsUrl, port, lan, certificate, controlSecret: opened.controlSecret },
    });
    await stopped;
    await emulator.close();
  } catch (thrown) {
    const { code, message, hint } = toVoicectlError(thrown);
    report({ type: 'failed', code, message, hint });
  }
  if (process.connected) process.disconnect();
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
  report: (message: FromEmulator) => void,
): Promise<void> {
  try {
    report({ type: 'result', id, result: await perform(control, name, args) });
  } catch (thrown) {
    const { code, message, hint } = toVoicectlError(thrown);
    report({ type: 'refused', id, code, message, hint });
  }
}

function perform({ faults, ...others }: ServedControl, name: ProcessCall, args: unknown[]): unknown {
  const calls: Record<ProcessCall, (...given: never[]) => unknown> = {
    ...others,
    'faults.add': faults.add,
    'faults.clear': faults.clear,
  };
  return calls[name](...(args as never[]));
}
