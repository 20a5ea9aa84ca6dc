import { VoicectlError } from '../../kernel/errors.ts';
import type { DeviceFacts } from '../host/host-protocol.ts';

/** Whether a device is named by its number in the list of `voicectl audio`. */
export function isDeviceNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

const shownNames = 5;

/**
 * The device that a user means: a number in the list, a name, or a part of a name that no other device has. Throws
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
      ? `There is no device "${text}"`
      : `"${text}" could be any of ${candidates.length} devices`,
    {
      details: { isAmbiguous: found !== undefined },
      hint: `${found === undefined ? 'There are' : 'Name one of them'}: ${names.join(', ') || 'none'}${more}. voicectl audio lists them all.`,
    },
  );
}

/** Its name, with the backend's own if others have the same name. */
function describe({ id, name }: DeviceFacts, devices: readonly DeviceFacts[]): string {
  const isOnly = devices.filter((one) => one.name === name).length === 1;
  return isOnly ? name : `${name} [${id}]`;
}
