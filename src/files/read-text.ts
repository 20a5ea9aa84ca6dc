import { readFile, stat } from 'node:fs/promises';
import { addAbortSignal, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { VoicectlError } from '../kernel/errors.ts';

/** Standard input, and what ends the wait for it. */
export interface Stdin {
  stdin: Readable;
  signal: AbortSignal;
}

/** For a program that reads files and has no standard input of ours. */
export const noStdin: Stdin = { stdin: Readable.from([]), signal: new AbortController().signal };

/** The text of a small file, or of standard input for `-`. Throws `bad-input`, or the signal's reason. */
export async function readText(path: string, { stdin, signal }: Stdin): Promise<string> {
  try {
    if (path === '-') return await text(addAbortSignal(signal, stdin));
    if ((await stat(path)).isDirectory()) throw new Error('it is a directory');
    return await readFile(path, { encoding: 'utf8', signal });
  } catch (cause) {
    signal.throwIfAborted();
    throw new VoicectlError('bad-input', `Cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
}
