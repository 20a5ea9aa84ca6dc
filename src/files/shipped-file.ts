import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder of the package, seen from the built program. */
export function shippedFolder(name: string): string {
  return fileURLToPath(new URL(`../${name}/`, import.meta.url));
}

/** The sound of this name: the user's own, or where there is none and the name is no path, one that comes along. */
export async function findSound(file: string): Promise<string> {
  if (file === '-' || /[/\\]/.test(file) || (await exists(file))) return file;
  const shipped = join(shippedFolder('fixtures'), file);
  return (await exists(shipped)) ? shipped : file;
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
