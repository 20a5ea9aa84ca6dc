import { writeFile } from 'node:fs/promises';
import { writeFailure } from '../audio/write-failure.ts';

/** Writes a file for the user alone, in the place of what is there. Throws `input-output`. */
export async function writeExport(path: string, content: string): Promise<void> {
  await writeFile(path, content, { mode: 0o600 }).catch((thrown) => {
    throw writeFailure(path, thrown);
  });
}
