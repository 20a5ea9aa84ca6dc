import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { cannotWrite, writeFailure } from './refusal.ts';

/**
 * Writes a file whole: whoever reads the file meanwhile finds the one that was there before. Into a pipe or device
 * it is written as it is, unless it is `preliminary`: what went there cannot be replaced. Throws `input-output`.
 */
export async function writeWhole(path: string, content: string, { preliminary = false } = {}): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    const there = await stat(path).catch(() => undefined);
    if (there?.isDirectory()) throw cannotWrite(path, 'it is a folder');
    if (there !== undefined && !there.isFile()) {
      if (!preliminary) await writeFile(path, content);
      return;
    }
    await writeFile(draft, content, { flag: 'wx' });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw writeFailure(path, cause);
  }
}
