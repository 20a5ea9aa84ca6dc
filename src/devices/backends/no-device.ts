import { VoicectlError } from '../../kernel/errors.ts';
import { type Backend, backends, fitsHost, type Host } from '../backend.ts';

/** Why a backend was not used. */
export interface Refusal {
  readonly backend: Backend;
  readonly reason: string;
}

/** How the reason ends if the backend is just not installed. */
const missing = 'not installed';

/** The error if no backend can reach a device, with the reasons and what to do. */
export function noDevice(what: string, refusals: readonly Refusal[], host: Host): VoicectlError {
  const failed = refusals.filter(({ backend, reason }) => fitsHost(backend, host) && !isNotInstalled(reason));
  const reasons = failed.map(({ backend, reason }) => `${backend.name}: ${reason}`).join('; ');
  const message =
    reasons === ''
      ? `No ${what} is available: no audio backend is installed`
      : `No ${what} can be reached (${reasons})`;
  return new VoicectlError('audio-device', message, {
    hint: reasons === '' ? installHint(host) : `${startHint(host)} Run voicectl doctor for details.`,
    details: { backends: refusals.map(({ backend, reason }) => ({ name: backend.name, reason })) },
  });
}

/** What to install on this kind of machine. If nothing `isMissing`, the hint says what to check. */
export function installHint(host: Host, isMissing: (backend: string) => boolean = () => true): string {
  const wanted = backends.filter((backend) => fitsHost(backend, host) && isMissing(backend.name));
  if (wanted.length === 0) return startHint(host);
  const packages = wanted.filter((one) => !isCommand(one)).map(({ install }) => install);
  const ways = packages.length === 0 ? [] : [`Install one of: ${packages.join('; ')}`];
  return `${[...ways, ...wanted.filter(isCommand).map(installText)].join('; or: ')}.`;
}

/** `Install sox (with play)`, or `Run npm install …`. */
export function installText({ install }: Pick<Backend, 'install'>): string {
  return isCommand({ install }) ? `Run ${install}` : `Install ${install}`;
}

function isCommand({ install }: Pick<Backend, 'install'>): boolean {
  return install.startsWith('npm ');
}

/** Whether a reason says that the backend is just not installed. */
export function isNotInstalled(reason: string | undefined): boolean {
  return reason?.endsWith(missing) === true;
}

function startHint({ platform }: Host): string {
  if (platform === 'linux') return 'Check that a sound server is running and a sound device is connected.';
  return 'Check that a sound device is connected and that the terminal may use it.';
}
