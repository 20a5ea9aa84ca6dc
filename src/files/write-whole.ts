import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lookAt } from './output-file.ts';
import { writeFailure } from './refusal.ts';
import { writeText } from './write-text.ts';

export interface WholeOptions {
  /** Of this text a pipe or device gets nothing: what goes there cannot be replaced. */
  preliminary?: boolean;
  /** Aborted when nobody waits any longer for a reader of a pipe. */
  giveUp?: AbortSignal | undefined;
}

/**
 * Writes a file whole: whoever reads the file meanwhile finds the one that was there before. Into a pipe or device
 * the text is written as it is. Throws `input-output`.
 */
export async function writeWhole(
  path: string,
  text: string,
  { preliminary = false, giveUp }: WholeOptions = {},
): Promise<void> {
  const there = await lookAt(path);
  const isDevice = there !== undefined && !there.isFile() && !there.isDirectory();
  if (!isDevice) await replaceFile(path, text);
  else if (!preliminary) await writeText(path, text, { giveUp });
}

async function replaceFile(path: string, text: string): Promise<void> {
  // A short name of its own: that of the file may leave no room for more.
  const draft = join(dirname(path), `.voicectl-${process.pid}-${Math.random().toString(36).slice(2, 10)}`);
  try {
    await writeText(draft, text, { existing: 'refuse', name: path });
    await rename(draft, path);
  } catch (thrown) {
    await rm(draft, { force: true }).catch(() => {});
    throw writeFailure(path, thrown);
  }
}
