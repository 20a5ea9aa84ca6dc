import { open } from 'node:fs/promises';
import { writeFailure } from './refusal.ts';

/** Writes a file for the user alone, in the place of what is there. Throws `input-output`. */
export async function writeExport(path: string, content: string): Promise<void> {
  try {
    const file = await open(path, 'w', 0o600);
    try {
      // A file that was there has a mode already; a pipe or a terminal keeps its own.
      if ((await file.stat()).isFile()) await file.chmod(0o600);
      await file.writeFile(content);
    } finally {
      await file.close();
    }
  } catch (thrown) {
    throw writeFailure(path, thrown);
  }
}
