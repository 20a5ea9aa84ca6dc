import { execFile } from 'node:child_process';
import type { Clock } from '../../kernel/clock.ts';
import type { Backend, Role } from '../backend.ts';
import { cannotStart, deviceError } from '../device-error.ts';
import type { DeviceSearch } from '../find-backends.ts';
import type { HostTask } from '../host/host-protocol.ts';
import { type DeviceProcess, startDeviceProcess } from './device-process.ts';

/** What is needed to open a device. */
export interface DeviceOptions {
  /** The backend's own name. Undefined: its default device. */
  readonly device: string | undefined;
  readonly clock: Clock;
  readonly surroundings: DeviceSearch;
  /** Cancels the opening. An open device is not affected. */
  readonly signal?: AbortSignal | undefined;
}

/** Waits for a device to open, and ends its process if that fails or is cancelled. */
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
  { device, clock, surroundings, signal }: DeviceOptions,
): Promise<DeviceProcess> {
  const { env, host } = surroundings;
  if (backend.kind === 'native') {
    const number = device === undefined ? {} : { device: Number(device) };
    return startHost({ library: backend.library, act: role, ...number }, { clock, surroundings });
  }
  const help = backend.readsHelp ? await readHelp(backend.programs[role], { env, signal }) : '';
  const line = backend.line({ role, device, platform: host.platform, help });
  if (line === undefined) throw deviceError(`it has no ${role} here of the device asked for`);
  const { command, args } = line;
  const pcm = role === 'capture' ? 'stdout' : 'stdin';
  // English output can be parsed.
  const environment = { ...env, LC_ALL: 'C', ...line.env };
  return startDeviceProcess({ command, args, env: environment, pcm, status: backend.status }, clock);
}

/** Starts the device host. */
export function startHost(
  task: HostTask,
  { clock, surroundings: { env, hostFile } }: Omit<DeviceOptions, 'device'>,
): DeviceProcess {
  const args = [hostFile, JSON.stringify(task)];
  return startDeviceProcess({ command: process.execPath, args, env, pcm: 'descriptor' }, clock);
}

function readHelp(
  program: string,
  { env, signal }: { env: DeviceSearch['env']; signal: AbortSignal | undefined },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env, timeout: 2_000, ...(signal === undefined ? {} : { signal }) };
    try {
      // Some print it on standard error, some end with 1: the text counts.
      execFile(program, ['--help'], options, (_, out, err) => {
        if (signal?.aborted) reject(signal.reason);
        else resolve(out + err);
      });
    } catch (thrown) {
      reject(cannotStart(thrown));
    }
  });
}
