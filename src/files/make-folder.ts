import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from './refusal.ts';

/**
 * Makes a folder for the user alone (mode 0700), with the folders above it. Node's own function never ends if a folder cannot be
 * made although its parent exists, as in /proc. Throws the system's error, even if a file has this name.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) await makeFolder(above);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (thrown) {
    // Another run was faster.
    if (systemCode(thrown) !== 'EEXIST' || !(await isFolder(folder))) throw thrown;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
