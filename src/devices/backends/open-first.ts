import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import type { Backend, Role } from '../backend.ts';
import { type Candidate, findBackends } from '../find-backends.ts';
import type { DeviceFacts } from '../host/host-protocol.ts';
import type { DeviceOptions } from '../process/open-process.ts';
import { listDevices, listFirst } from './list-devices.ts';
import { installText, noDevice, type Refusal } from './no-device.ts';

/** Which device to open, and through which backend. */
export interface DeviceChoice extends Omit<DeviceOptions, 'device'> {
  readonly role: Role;
  /** As the user names it: a number from `voicectl audio`, or part of the name. */
  readonly device: string | undefined;
  readonly backend: string | undefined;
}

/**
 * Opens a device through the first backend that can. A number belongs to the backend whose list it is from. Throws
 * `audio-device` with all reasons and with what to install, `usage` for an unknown backend.
 */
export async function openFirst<Device>(
  choice: DeviceChoice,
  open: (backend: Backend, device: string | undefined) => Promise<Device>,
): Promise<Device> {
  const { role, device, search } = choice;
  const candidates = await findBackends(role, await backendOf(choice), search);
  const refusals: Refusal[] = [];
  /** The error of the first backend whose list does not have the name. */
  let misnamed: VoicectlError | undefined;
  let isFound = false;
  let isAmbiguous = false;
  for (const candidate of candidates) {
    choice.signal?.throwIfAborted();
    if (candidate.reason !== undefined) {
      if (choice.backend !== undefined) throw forcedFailure(candidate);
      refusals.push({ backend: candidate.backend, reason: candidate.reason });
      continue;
    }
    try {
      const found = await findDevice(candidate, device, choice).catch((thrown) => {
        const failure = toVoicectlError(thrown);
        isAmbiguous ||= failure.details.isAmbiguous === true;
        misnamed ??= failure;
        throw thrown;
      });
      isFound = true;
      return await open(candidate.backend, found);
    } catch (thrown) {
      const { code, message } = toVoicectlError(thrown);
      if (code !== 'audio-device' || isAmbiguous) throw thrown;
      refusals.push({ backend: candidate.backend, reason: message });
    }
  }
  choice.signal?.throwIfAborted();
  if (misnamed?.hint !== undefined && !isFound) throw misnamed;
  throw noDevice(role === 'capture' ? 'microphone' : 'loudspeaker', refusals, search.host);
}

/**
 * Opens the same device repeatedly. A number always refers to the list that it was first taken from, even if another list
 * is shown while the device is away.
 */
export function createOpener<Device>(
  choice: DeviceChoice,
  open: (backend: Backend, options: { device: string | undefined; signal: AbortSignal }) => Promise<Device>,
): (signal: AbortSignal) => Promise<Device> {
  let { backend } = choice;
  return (signal) =>
    openFirst({ ...choice, backend, signal }, async (one, device) => {
      const opened = await open(one, { device, signal });
      if (choice.device !== undefined && isDeviceNumber(choice.device)) backend = one.name;
      return opened;
    });
}

/** The error if the backend that the user chose cannot be used here. */
function forcedFailure({ backend, reason }: Candidate): VoicectlError {
  return new VoicectlError('audio-device', `The audio backend ${backend.name} cannot be used: ${reason}`, {
    hint: `${installText(backend)}, or leave out --audio-backend.`,
  });
}

/** The only backend that may be used, if any: in the list of another backend a number means another device. */
async function backendOf(choice: DeviceChoice): Promise<string | undefined> {
  const { device, backend: forced } = choice;
  if (forced !== undefined || device === undefined || !isDeviceNumber(device)) return forced;
  return (await listFirst(undefined, choice)).backend;
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
  // A program without a list receives the name unchanged.
  return known === undefined
    ? device
    : selectDevice(
        device,
        known.filter((one) => one.role === role),
      ).id;
}

/** Whether a device is named by its number in the list of `voicectl audio`. */
function isDeviceNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

const shownNames = 5;

/**
 * The device that a user means: a number in the list, a name, or part of a name that no other device has. Throws
 * `audio-device`.
 */
export function selectDevice(text: string, devices: readonly DeviceFacts[]): DeviceFacts {
  const index = isDeviceNumber(text) ? devices[Number(text)] : undefined;
  const wanted = text.toLowerCase();
  const is = ({ id, name }: DeviceFacts) => id.toLowerCase() === wanted || name.toLowerCase() === wanted;
  const has = ({ id, name }: DeviceFacts) =>
    id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted);
  const exact = index ?? devices.find(is);
  if (exact !== undefined) return exact;
  const [found, ...others] = devices.filter(has);
  if (found !== undefined && others.length === 0) return found;
  const candidates = found === undefined ? devices : [found, ...others];
  const names = candidates.slice(0, shownNames).map((one) => describe(one, candidates));
  const more = candidates.length > shownNames ? ` and ${candidates.length - shownNames} more` : '';
  throw new VoicectlError(
    'audio-device',
    found === undefined
      ? `There is no sound device "${text}"`
      : `"${text}" could be any of ${candidates.length} devices`,
    {
      details: { isAmbiguous: found !== undefined },
      hint: `${found === undefined ? 'There are' : 'Name one of them'}: ${names.join(', ') || 'none'}${more}. voicectl audio lists them all.`,
    },
  );
}

/** The name of a device, with the backend's own name if another device has the same one. */
function describe({ id, name }: DeviceFacts, devices: readonly DeviceFacts[]): string {
  const isOnly = devices.filter((one) => one.name === name).length === 1;
  return isOnly ? name : `${name} [${id}]`;
}
