import { toVoicectlError, VoicectlError } from '../errors.ts';
import { type Backend, backends, fitsHost, type Host, type Role } from './backend.ts';
import { type Candidate, findBackends } from './find-backends.ts';
import { listDevices } from './list-devices.ts';
import type { DeviceOptions } from './open-process.ts';
import { selectDevice } from './select-device.ts';

/** Which device, by which way. */
export interface DeviceChoice extends Omit<DeviceOptions, 'device'> {
  readonly role: Role;
  /** As the user names it: a number of `voicectl devices`, or a part of its name. */
  readonly device: string | undefined;
  /** This backend and no other. */
  readonly backend: string | undefined;
}

/** Why a backend was not used. */
export interface Refusal {
  readonly backend: Backend;
  readonly reason: string;
}

/**
 * Opens a device by the first backend that can. Throws `audio-device` with every reason, and names what to install;
 * `usage` for a backend that there is not.
 */
export async function openFirst<Device>(
  choice: DeviceChoice,
  open: (backend: Backend, device: string | undefined) => Promise<Device>,
): Promise<Device> {
  const { role, device, backend: forced, surroundings } = choice;
  const candidates = await findBackends(role, forced, surroundings);
  const refusals: Refusal[] = [];
  for (const candidate of candidates) {
    if (candidate.reason !== undefined) {
      refusals.push({ backend: candidate.backend, reason: candidate.reason });
      continue;
    }
    try {
      return await open(candidate.backend, await findDevice(candidate, device, choice));
    } catch (thrown) {
      const { code, message } = toVoicectlError(thrown);
      if (code !== 'audio-device') throw thrown;
      refusals.push({ backend: candidate.backend, reason: message });
    }
  }
  throw noDevice(role, refusals, surroundings.host);
}

/** The backend's own name for the device that the user means. */
async function findDevice(
  { backend }: Candidate,
  device: string | undefined,
  choice: DeviceChoice,
): Promise<string | undefined> {
  if (device === undefined) return undefined;
  const role = choice.role === 'capture' ? 'input' : 'output';
  const known = await listDevices(backend, choice);
  // A program that has no list takes a name as it is.
  return known === undefined
    ? device
    : selectDevice(
        device,
        known.filter((one) => one.role === role),
      ).id;
}

function noDevice(role: Role, refusals: readonly Refusal[], host: Host): VoicectlError {
  const what = role === 'capture' ? 'microphone' : 'loudspeaker';
  const here = refusals.filter(({ backend }) => fitsHost(backend, host));
  const isNothingInstalled = here.every(({ reason }) => reason.endsWith('not installed'));
  const reasons = here.map(({ backend, reason }) => `${backend.name}: ${reason}`).join('; ');
  const message = `No ${what} can be reached (${reasons === '' ? 'no backend fits this machine' : reasons})`;
  return new VoicectlError('audio-device', message, {
    hint: isNothingInstalled ? installHint(host) : `${startHint(host)} voicectl doctor says more.`,
    details: {
      role,
      backends: refusals.map(({ backend, reason }) => ({ name: backend.name, reason })),
    },
  });
}

/** What to install on this kind of machine. */
export function installHint(host: Host): string {
  const fitting = backends.filter((backend) => fitsHost(backend, host));
  return `Install one of: ${fitting.map(({ install }) => install).join('; ')}.`;
}

function startHint({ platform }: Host): string {
  if (platform === 'linux') return 'Is a sound server running, and a device there?';
  return 'Is a device there, and is the terminal allowed to use it?';
}
