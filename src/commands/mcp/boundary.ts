import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { makeFolder } from '../../files/make-folder.ts';
import { shippedFolder } from '../../files/shipped-file.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';

/** What a client of `mcp` may reach. */
export interface Boundary {
  /** Throws `usage` unless the address is of this machine, or its host is allowed. Says whether the key may go there. */
  checkTarget(url: string): { hasKey: boolean };
  /** A file or folder to read: below the working folder or the output folder, or an included one. Throws `usage`. */
  readable(path: string): Promise<string>;
  /** A new file or folder in the folder for output. Throws `usage`. */
  writable(name: string): Promise<string>;
}

export interface BoundaryOptions {
  cwd: string;
  /** Hosts, or hosts with a port, in addition to this machine. */
  allowTargets: readonly string[];
  /** The only folder that is written to; undefined: none. */
  folder: string | undefined;
}

export function createBoundary({ cwd, allowTargets, folder }: BoundaryOptions): Boundary {
  const output = folder === undefined ? undefined : resolve(cwd, folder);
  const shipped = ['fixtures', 'examples'].map(shippedFolder);
  const allowed = new Set(allowTargets.map((host) => host.toLowerCase()));
  return {
    checkTarget(url) {
      const { hostname, host } = new URL(url);
      const hasKey = allowed.has(hostname) || allowed.has(host);
      if (hasKey || isLoopbackHost(hostname)) return { hasKey };
      throw new VoicectlError('usage', `${hostname} is not allowed: it is not this machine`, {
        hint: `The user can allow it with voicectl mcp --allow-target ${hostname}`,
      });
    },
    async readable(path) {
      const real = await realpath(resolve(cwd, path)).catch(() => undefined);
      // Whoever reads it refuses a path that does not exist.
      if (real === undefined && isBelow(resolve(cwd, path), cwd)) return resolve(cwd, path);
      const wanted = [cwd, ...(output === undefined ? [] : [output]), ...shipped];
      const roots = await Promise.all(wanted.map((root) => realpath(root).catch(() => undefined)));
      const isInside = (one: string | undefined) =>
        one !== undefined && roots.some((root) => root !== undefined && isBelow(one, root));
      // A recording is a folder whose files are read: none of them may be a link to somewhere else.
      if (real !== undefined && isInside(real) && (await linksOf(real)).every(isInside)) return real;
      throw new VoicectlError('usage', `${path} is not below the working folder`, {
        hint: 'Only files below the working folder of voicectl mcp and the --folder folder can be read.',
      });
    },
    async writable(name) {
      if (output === undefined)
        throw new VoicectlError('usage', 'Nothing can be written: no output folder is set', {
          hint: 'The user can set one with voicectl mcp --folder DIR',
        });
      const path = resolve(output, name);
      await makeFolder(output);
      const parent = await realpath(dirname(path)).catch(() => undefined);
      const real = parent === undefined ? undefined : join(parent, basename(path));
      const found = real === undefined ? undefined : await lstat(real).catch(() => undefined);
      const root = await realpath(output);
      if (real === undefined || !isBelow(real, root) || real === root || found?.isSymbolicLink())
        throw new VoicectlError('usage', `${name} is not a name in the --folder folder`, {
          hint: 'Give a name without folders, such as session-1.',
        });
      return real;
    },
  };
}

/** The targets of the links in a folder; undefined for one that leads nowhere. None for a file. */
async function linksOf(folder: string): Promise<(string | undefined)[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
  return Promise.all(links.map((link) => realpath(link).catch(() => undefined)));
}

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || resolve(way) === way);
}
