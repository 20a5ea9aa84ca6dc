import { existsSync, readFileSync } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder of the package, relative to the built program in `dist/`, or to this file if it runs unbuilt. */
export function shippedFolder(name: string): string {
  const roots = ['../', '../../'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const root = roots.find((path) => existsSync(join(path, 'package.json'))) ?? '.';
  return join(root, name);
}

/** The platform of this executable, or undefined if npm installed the program. */
export function executablePlatform(): string | undefined {
  const file = shippedFolder('executable.json');
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { platform: string }).platform
    : undefined;
}

/**
 * Finds the WAV with this name: the user's own file, or if it does not exist and the
 * name is not a path, an included one, such as `hello.wav`. A relative path starts from `folder`.
 */
export async function findShippedSound(name: string, folder = ''): Promise<string> {
  const own = resolveIn(folder, name);
  if (name === '-' || /[/\\]/.test(name) || (await fileExists(own))) return own;
  const shipped = join(shippedFolder('fixtures'), name);
  return (await fileExists(shipped)) ? shipped : own;
}

/** The names of the included sounds. */
export async function shippedSounds(): Promise<string[]> {
  return (await readdir(shippedFolder('fixtures'))).filter((name) => name.endsWith('.wav'));
}

/** Without a folder, keeps the path unchanged, so that messages show what the user typed. */
function resolveIn(folder: string, name: string): string {
  return name === '-' || folder === '' || isAbsolute(name) ? name : join(folder, name);
}

export function fileExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
