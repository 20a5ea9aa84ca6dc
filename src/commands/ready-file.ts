import { rename, rm, writeFile } from 'node:fs/promises';
import type { Emulator } from '../emulator/emulator.ts';
import { VoicectlError } from '../errors.ts';

/** Writes the URLs as JSON. The file appears whole: whoever waits for it never reads half of it. */
export async function writeReadyFile(path: string, { baseUrl, wsUrl, port }: Emulator): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, `${JSON.stringify({ baseUrl, wsUrl, port, pid: process.pid })}\n`, { flag: 'wx' });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw new VoicectlError('input-output', `Cannot write ${path}: ${(cause as Error).message}`, { cause });
  }
}
