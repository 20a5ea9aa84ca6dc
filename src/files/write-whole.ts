import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lookAt, writeText } from './output-file.ts';
import { writeFailure } from './refusal.ts';

export interface WholeOptions {
  /** Writes nothing to a pipe or device, because text there cannot be replaced. */
  preliminary?: boolean;
  /** Abort it to stop waiting for a reader of a pipe. */
  giveUp?: AbortSignal | undefined;
}

/**
 * Replaces a file in one step: until then a reader finds the old file. To a pipe or device
 * it writes the text directly. Throws `input-output`.
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
  // A short new name: the name of the file may already have the maximum length.
  const draft = join(dirname(path), `.voicectl-${process.pid}-${Math.random().toString(36).slice(2, 10)}`);
  try {
    await writeText(draft, text, { existing: 'refuse', name: path });
    await rename(draft, path);
  } catch (thrown) {
    await rm(draft, { force: true }).catch(() => {});
    throw writeFailure(path, thrown);
  }
}
