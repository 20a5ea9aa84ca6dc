import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { VoicectlError } from '../kernel/errors.ts';
import { type Backend, backends, backendsFor, fitsHost, type Host, type Role } from './backend.ts';

/** Where to look for devices: the machine, its environment, and the built device host. */
export interface DeviceSearch {
  readonly host: Host;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file of the device host. Native libraries are resolved from there. */
  readonly hostFile: string;
}

/** What is known about a backend without opening a device. `reason` says why it cannot be used. */
export interface Candidate {
  readonly backend: Backend;
  readonly reason: string | undefined;
}

/** All backends in the order in which they are tried, or only the chosen one. Throws `usage` for an unknown name. */
export async function findBackends(
  role: Role,
  forced: string | undefined,
  search: DeviceSearch,
): Promise<Candidate[]> {
  const wanted = backendsFor(role).filter(({ name }) => forced === undefined || name === forced);
  if (wanted.length === 0) {
    throw new VoicectlError('usage', `There is no audio backend "${forced}"`, {
      hint: `The backends are ${backends.map(({ name }) => name).join(', ')}.`,
    });
  }
  return Promise.all(
    wanted.map(async (backend) => ({ backend, reason: await whyNot(backend, role, search) })),
  );
}

async function whyNot(
  backend: Backend,
  role: Role,
  { host, env, hostFile }: DeviceSearch,
): Promise<string | undefined> {
  if (backend.kind === 'native' && host.isExecutable === true) return 'not part of the executable';
  if (!fitsHost(backend, host)) return `not available for ${host.platform} ${host.arch}`;
  if (backend.kind === 'native') {
    return isInstalled(backend.library, hostFile) ? undefined : 'not installed';
  }
  const program = backend.programs[role];
  return (await findProgram(program, env)) === undefined ? `${program} is not installed` : undefined;
}

function isInstalled(library: string, hostFile: string): boolean {
  try {
    createRequire(hostFile).resolve(library);
    return true;
  } catch {
    return false;
  }
}

/** The path of a program, found like a shell does. */
async function findProgram(name: string, env: DeviceSearch['env']): Promise<string | undefined> {
  const endings = env.PATHEXT === undefined ? [''] : env.PATHEXT.split(';');
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const path = join(folder, name + ending);
      if (await isExecutable(path)) return path;
    }
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
