import type { Clock } from '../../kernel/clock.ts';
import type { Backend, Role } from '../backend.ts';
import { deviceError } from '../device-error.ts';
import type { DeviceSearch } from '../find-backends.ts';
import type { HostTask } from '../host/host-protocol.ts';
import { type DeviceProcess, startDeviceProcess } from './device-process.ts';
import { runToEnd } from './run-to-end.ts';

const helpMs = 2_000;

/** What is needed to open a device. */
export interface DeviceOptions {
  /** The backend's own name. Undefined: its default device. */
  readonly device: string | undefined;
  readonly clock: Clock;
  readonly search: DeviceSearch;
  /** Cancels the opening. An open device is not affected. */
  readonly signal?: AbortSignal | undefined;
}

/** Waits until a device is open, and ends its process if that fails or is cancelled. */
export async function whileOpening<Device>(
  child: DeviceProcess,
  signal: AbortSignal | undefined,
  opening: () => Promise<Device>,
): Promise<Device> {
  const stop = () => void child.stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    if (signal?.aborted) stop();
    return await opening();
  } catch (thrown) {
    await child.stop();
    throw thrown;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Starts the process through which a backend reaches a device. Throws `audio-device` if the backend cannot do that. */
export async function openProcess(
  backend: Backend,
  role: Role,
  { device, clock, search, signal }: DeviceOptions,
): Promise<DeviceProcess> {
  const { env, host } = search;
  if (backend.kind === 'native') {
    const number = device === undefined ? {} : { device: Number(device) };
    return startHost({ library: backend.library, act: role, ...number }, { clock, search });
  }
  const help = backend.readsHelp ? await readHelp(backend.programs[role], { env, signal }) : '';
  const line = backend.line({ role, device, platform: host.platform, help });
  if (line === undefined) throw deviceError(`it cannot open this device for ${role} here`);
  const { command, args } = line;
  const pcm = role === 'capture' ? 'stdout' : 'stdin';
  // The parsers expect English.
  const environment = { ...env, LC_ALL: 'C', ...line.env };
  return startDeviceProcess({ command, args, env: environment, pcm, status: backend.status }, clock);
}

/** Starts the device host. */
export function startHost(
  task: HostTask,
  { clock, search: { env, hostFile } }: Omit<DeviceOptions, 'device'>,
): DeviceProcess {
  const args = [hostFile, JSON.stringify(task)];
  return startDeviceProcess({ command: process.execPath, args, env, pcm: 'descriptor' }, clock);
}

/** Ignores the exit code and reads both outputs: some programs print help on standard error, some end with 1. */
async function readHelp(
  program: string,
  { env, signal }: { env: DeviceSearch['env']; signal: AbortSignal | undefined },
): Promise<string> {
  const { stdout, stderr } = await runToEnd(program, ['--help'], { env, signal, limitMs: helpMs });
  return stdout + stderr;
}
