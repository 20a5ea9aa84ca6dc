import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder for the user alone (mode 0700), with the folders above it. Node's own way never ends where a folder cannot be
 * made although the one above is there, as in /proc. Throws the system's error.
 */
export async function makeFolder(folder: string): Promise<void> {
  const isThere = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );
  if (await isThere(folder)) return;
  const above = dirname(folder);
  if (above !== folder && !(await isThere(above))) await makeFolder(above);
  await mkdir(folder, { mode: 0o700 }).catch((thrown: NodeJS.ErrnoException) => {
    // Another run was faster.
    if (thrown.code !== 'EEXIST') throw thrown;
  });
}
