import type { Readable } from 'node:stream';
import { type ByteInput, createStreamInput } from './byte-input.ts';
import { openFileInput } from './file-input.ts';
import { nameOf, refusal } from './refusal.ts';

interface Input {
  stdin: Readable;
  signal: AbortSignal;
}

/** Far more than any text that a user writes. An endless device must not fill the memory. */
const mostTextBytes = 16 * 1024 * 1024;
/** Nine hours of PCM. */
const mostBytes = 1024 * 1024 * 1024;

/** Implements `readText`. */
export async function readAllText(path: string, input: Input): Promise<string> {
  const bytes = await readAll(path, input, mostTextBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refusal(nameOf(path), 'it is not UTF-8 text', undefined, cause);
  }
}

/** Implements `readBytes`. */
export function readAllBytes(path: string, input: Input): Promise<Buffer> {
  return readAll(path, input, mostBytes);
}

async function readAll(path: string, { stdin, signal }: Input, most: number): Promise<Buffer> {
  signal.throwIfAborted();
  const source = path === '-' ? createStreamInput(stdin, nameOf(path)) : await openFileInput(path);
  const stop = () => void source.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await collect(source, most);
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', stop);
    await source.close();
  }
}

async function collect(source: ByteInput, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source.chunks(0, Number.POSITIVE_INFINITY)) {
    bytes += chunk.length;
    if (bytes > most) throw refusal(source.name, `it is larger than ${most / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
