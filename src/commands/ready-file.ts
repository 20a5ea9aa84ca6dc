import { rename, rm, writeFile } from 'node:fs/promises';
import type { Emulator } from '../emulator/emulator.ts';
import { VoicectlError } from '../errors.ts';

/** Writes the URLs, and with TLS what to trust, as JSON. */
export async function writeReadyFile(path: string, emulator: Emulator): Promise<void> {
  const { baseUrl, wsUrl, port, lan, certificate } = emulator;
  const ready = {
    baseUrl,
    wsUrl,
    port,
    pid: process.pid,
    ...(lan.length === 0 ? {} : { lan }),
    ...(certificate === undefined ? {} : { certificate }),
  };
  await writeWhole(path, `${JSON.stringify(ready)}\n`);
}

/** The file appears whole: whoever waits for it never reads half of it. Throws `input-output`. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw new VoicectlError('input-output', `Cannot write ${path}: ${(cause as Error).message}`, { cause });
  }
}
