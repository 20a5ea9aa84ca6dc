import { VoicectlError } from '../../kernel/errors.ts';
import { type Backend, backends, fitsHost, type Host } from '../backend.ts';

/** Why a backend was not used. */
export interface Refusal {
  readonly backend: Backend;
  readonly reason: string;
}

/** How the reason ends if the backend is only not installed. */
const missing = 'not installed';

/** The error if no backend reaches a device, with the reasons and what to do. */
export function noDevice(what: string, refusals: readonly Refusal[], host: Host): VoicectlError {
  const failed = refusals.filter(
    ({ backend, reason }) => fitsHost(backend, host) && !reason.endsWith(missing),
  );
  const reasons = failed.map(({ backend, reason }) => `${backend.name}: ${reason}`).join('; ');
  const message =
    reasons === ''
      ? `No ${what} is available: no audio backend is installed`
      : `No ${what} can be reached (${reasons})`;
  return new VoicectlError('audio-device', message, {
    hint: reasons === '' ? installHint(host) : `${startHint(host)} voicectl doctor says more.`,
    details: { backends: refusals.map(({ backend, reason }) => ({ name: backend.name, reason })) },
  });
}

/** What to install on this kind of machine. */
export function installHint(host: Host): string {
  const fitting = backends.filter((backend) => fitsHost(backend, host));
  return `Install one of: ${fitting.map(({ install }) => install).join('; ')}.`;
}

function startHint({ platform }: Host): string {
  if (platform === 'linux') return 'Check that a sound server is running and a device is connected.';
  return 'Check that a device is connected and that the terminal may use it.';
}
