import cluster, { type Worker } from 'node:cluster';
import { availableParallelism } from 'node:os';
import { passErrors } from '../../kernel/child-errors.ts';
import { systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { roundMs } from '../../protocol/time-text.ts';
import type { EmulatorEvent, EmulatorEventBody } from '../../service/events.ts';
import type { TlsCertificate } from '../../wire/server/certificate.ts';
import type {
  FromEmulator,
  ProcessCall,
  ReadyFacts,
  ServedControl,
  ServedEmulator,
  ToEmulator,
} from './messages.ts';

/** A process that ended by itself is replaced after this time. */
const replaceAfterMs = 1_000;

export interface ProcessesOptions {
  processes: number | 'auto';
  tls: false | TlsCertificate;
  controlSecret: string | undefined;
  onEvent: (event: EmulatorEvent) => void;
}

/**
 * Runs an emulator in each of several processes, on one port. They are one service through what they share. Throws what the first
 * of them throws at its start.
 */
export async function openProcesses(
  options: ProcessesOptions,
): Promise<{ emulator: ServedEmulator; controlSecret: string }> {
  const count = options.processes === 'auto' ? availableParallelism() : options.processes;
  const startedAt = systemClock.now();
  const reported = new Set<EmulatorEvent['type']>();
  /** One log for all: the time is that of the first process, and what all processes do is reported once. */
  const show = (event: EmulatorEvent) => {
    const isOnce = event.type === 'listening' || event.type === 'stopping';
    if (isOnce && reported.has(event.type)) return;
    reported.add(event.type);
    const { instance, ...once } = event;
    const t = roundMs(systemClock.now() - startedAt);
    options.onEvent(isOnce ? { ...once, t } : { ...event, t });
  };
  const emit = (body: EmulatorEventBody) => show({ t: 0, level: 'warning', ...body });

  let stopping = false;
  const running = new Set<Worker>();
  const remote = createRemoteControl(() => [...running].find((worker) => worker.isConnected()));
  cluster.setupPrimary({ stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });

  const start = (): Promise<ReadyFacts> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork();
      passErrors(worker.process);
      let isReady = false;
      worker.on('message', (message: FromEmulator) => {
        if (message.type === 'hears') {
          send(worker, { type: 'start', tls: options.tls, controlSecret: options.controlSecret });
        } else if (message.type === 'event') show(message.event);
        else if (message.type === 'ready') {
          isReady = true;
          running.add(worker);
          resolve(message.facts);
        } else if (message.type === 'failed') {
          reject(new VoicectlError(message.code, message.message, { hint: message.hint }));
        } else remote.settle(message);
      });
      // It could not be started, or a message did not reach it: then it has ended, or ends now.
      worker.on('error', ({ message }: Error) => {
        reject(new VoicectlError('interrupted', `A process of the emulator failed: ${message}`));
        worker.kill('SIGKILL');
      });
      worker.on('exit', (code, signal) => {
        running.delete(worker);
        remote.dropped(worker);
        reject(new VoicectlError('interrupted', `A process of the emulator ended with ${signal ?? code}`));
        if (isReady && !stopping) replace(`${signal ?? `status ${code}`}`);
      });
    });
  const replace = (how: string) => {
    emit({
      type: 'shared-warning',
      why: `a process of the emulator ended with ${how}; a replacement starts`,
    });
    systemClock.after(replaceAfterMs, () => {
      if (stopping) return;
      start().catch(({ message }: VoicectlError) => {
        if (!stopping) replace(message);
      });
    });
  };
  const close = async () => {
    stopping = true;
    const all = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const ended = all.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const worker of all) {
      if (running.has(worker)) send(worker, { type: 'stop' });
      // It still starts and serves nobody; a message could come before it listens, and be lost.
      else worker.kill('SIGKILL');
    }
    await Promise.all(ended);
  };

  try {
    // The first one creates the service, and with port 0 it chooses the port for all.
    const facts = await start();
    await Promise.all(Array.from({ length: count - 1 }, start));
    const { controlSecret, ...addresses } = facts;
    return { emulator: { ...addresses, control: remote.control, close }, controlSecret };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function send(worker: Worker, message: ToEmulator): void {
  if (worker.isConnected()) worker.send(message);
}

interface Waiting {
  worker: Worker;
  resolve: (result: never) => void;
  reject: (failure: VoicectlError) => void;
}

/** The control of all emulators, through one of their processes. */
interface RemoteControl {
  readonly control: ServedControl;
  settle(message: FromEmulator & { type: 'result' | 'refused' }): void;
  /** The process has ended: it answers nothing any more. */
  dropped(worker: Worker): void;
}

function createRemoteControl(any: () => Worker | undefined): RemoteControl {
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  const call = <Result>(name: ProcessCall, ...args: unknown[]): Promise<Result> =>
    new Promise((resolve, reject) => {
      const worker = any();
      if (worker === undefined) {
        reject(unreachable());
        return;
      }
      const id = ++calls;
      waiting.set(id, { worker, resolve, reject });
      send(worker, { type: 'call', id, name, args });
    });
  return {
    control: {
      state: () => call('state'),
      time: () => call('time'),
      advance: (ms) => call('advance', ms),
      send: (selector, message) => call('send', selector, message),
      close: (selector, code, reason) => call('close', selector, code, reason),
      faults: {
        add: (input) => call('faults.add', input),
        clear: (id) => call('faults.clear', id),
      },
    },
    settle(message) {
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.type === 'result') asked?.resolve(message.result as never);
      else asked?.reject(new VoicectlError(message.code, message.message, { hint: message.hint }));
    },
    dropped(worker) {
      for (const [id, asked] of waiting) {
        if (asked.worker !== worker) continue;
        waiting.delete(id);
        asked.reject(unreachable());
      }
    },
  };
}

function unreachable(): VoicectlError {
  return new VoicectlError('connect-failed', 'No process of the emulator answers', { retryable: true });
}
