import { VoicectlError } from '../../kernel/errors.ts';
import type { DeviceFacts } from '../host/host-protocol.ts';

/** Whether a device is named by its place in the list of `voicectl devices`. */
export function isDeviceNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

/**
 * The device that a user means: by its number in the list of its kind, its name, or a part of that which no other has.
 * Throws `audio-device`.
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
  const problem = found === undefined ? 'it knows no device' : `${others.length + 1} devices are called`;
  throw new VoicectlError('audio-device', `${problem} "${text}"`, {
    hint: 'voicectl devices lists them.',
  });
}
