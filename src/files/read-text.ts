import type { Readable } from 'node:stream';
import { type ByteInput, createStreamInput } from './byte-input.ts';
import { openFileInput } from './file-input.ts';
import { refusal } from './refusal.ts';

/** Standard input, and what ends the wait for it. */
export interface Stdin {
  stdin: Readable;
  signal: AbortSignal;
}

/** Far more than any text that a user writes; a device that never ends must not fill the memory. */
const mostTextBytes = 16 * 1024 * 1024;
/** An hour of PCM has a tenth of this; the same for sound. */
const mostBytes = 1024 * 1024 * 1024;

/**
 * The text (UTF-8) of a file that the user names, or of standard input for `-`. Throws `bad-input` where it cannot be
 * used, `input-output` where the system fails, or the signal's reason.
 */
export async function readText(path: string, input: Stdin): Promise<string> {
  const bytes = await readAll(path, input, mostTextBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refusal(nameOf(path), 'it is not UTF-8 text', undefined, cause);
  }
}

/** The bytes of a file that the user names, or of standard input for `-`. Throws as `readText` does. */
export function readBytes(path: string, input: Stdin): Promise<Buffer> {
  return readAll(path, input, mostBytes);
}

async function readAll(path: string, { stdin, signal }: Stdin, most: number): Promise<Buffer> {
  signal.throwIfAborted();
  const name = nameOf(path);
  const source = path === '-' ? createStreamInput(stdin, name) : await openFileInput(path);
  const stop = () => void source.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await collect(source, name, most);
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', stop);
    await source.close();
  }
}

async function collect(source: ByteInput, name: string, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source.chunks(0, Number.POSITIVE_INFINITY)) {
    bytes += chunk.length;
    if (bytes > most) throw refusal(name, `it is larger than ${most / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What a path is called in messages. */
export function nameOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}
