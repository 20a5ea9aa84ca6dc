import { existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder of the package: seen from the built program in `dist/`, or from this file where it runs as it is. */
export function shippedFolder(name: string): string {
  const roots = ['../', '../../'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const root = roots.find((path) => existsSync(join(path, 'package.json'))) ?? '.';
  return join(root, name);
}

/**
 * The sound that is meant by a name, wherever a WAV is asked for: the user's own file, or where there is none and the
 * name is no path, one that comes with the program, such as `hello.wav`. A relative path starts from `folder`.
 */
export async function findSound(name: string, folder = ''): Promise<string> {
  const own = resolveIn(folder, name);
  if (name === '-' || /[/\\]/.test(name) || (await exists(own))) return own;
  const shipped = join(shippedFolder('fixtures'), name);
  return (await exists(shipped)) ? shipped : own;
}

/** The path as it was written where there is no folder: messages then show what the user typed. */
function resolveIn(folder: string, name: string): string {
  return name === '-' || folder === '' || isAbsolute(name) ? name : join(folder, name);
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
