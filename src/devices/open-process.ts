import { execFile } from 'node:child_process';
import type { Clock } from '../clock.ts';
import { VoicectlError, type VoicectlErrorOptions } from '../errors.ts';
import type { Backend, ProgramBackend, Role } from './backend.ts';
import { type DeviceProcess, startDeviceProcess } from './device-process.ts';
import type { Surroundings } from './find-backends.ts';
import type { HostTask } from './host-protocol.ts';

/** What opening a device takes. */
export interface DeviceOptions {
  /** In the terms of the backend; undefined: its default. */
  readonly device: string | undefined;
  readonly clock: Clock;
  readonly surroundings: Surroundings;
  /** Ends the opening; not the device once it is open. */
  readonly signal?: AbortSignal | undefined;
}

/** An error of a device: `audio-device`, exit 8. */
export function deviceError(message: string, options: VoicectlErrorOptions = {}): VoicectlError {
  return new VoicectlError('audio-device', message, { retryable: true, ...options });
}

/** Waits for a device to open, and ends its process where that fails or is given up. */
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

/** Starts the process by which a backend reaches a device. Throws `audio-device` where the backend cannot do that. */
export async function openProcess(
  backend: Backend,
  role: Role,
  { device, clock, surroundings }: DeviceOptions,
): Promise<DeviceProcess> {
  const { env, host } = surroundings;
  if (backend.kind === 'native') {
    const number = device === undefined ? {} : { device: Number(device) };
    return startHost({ library: backend.library, act: role, ...number }, { clock, surroundings });
  }
  const help = backend.readsHelp ? await readHelp(backend, role, env) : '';
  const line = backend.line({ role, device, platform: host.platform, help });
  if (line === undefined) throw deviceError(`it has no ${role} here of the device asked for`);
  const { command, args } = line;
  const pcm = role === 'capture' ? 'stdout' : 'stdin';
  return startDeviceProcess({ command, args, env: { ...env, ...line.env }, pcm }, clock);
}

/** Starts the device host. */
export function startHost(
  task: HostTask,
  { clock, surroundings: { env, hostFile } }: Omit<DeviceOptions, 'device'>,
): DeviceProcess {
  const args = [hostFile, JSON.stringify(task)];
  return startDeviceProcess({ command: process.execPath, args, env, pcm: 'descriptor' }, clock);
}

function readHelp({ programs }: ProgramBackend, role: Role, env: Surroundings['env']): Promise<string> {
  return new Promise((resolve) => {
    // Some say it on standard error, some end with 1: the text is what counts.
    execFile(programs[role], ['--help'], { env, timeout: 2_000 }, (_, out, err) => resolve(out + err));
  });
}
