import { Readable } from 'node:stream';
import { type ByteInput, createStreamInput } from './byte-input.ts';
import { nameOf, refusal } from './refusal.ts';

/** Standard input, the signal that ends the wait for an input, and who is told what is awaited. */
export interface Stdin {
  stdin: Readable;
  signal: AbortSignal;
  awaits?(what: string | undefined): void;
}

/** For a program that reads files but not our standard input. */
export const noStdin: Stdin = { stdin: Readable.from([]), signal: new AbortController().signal };

/** Far more than any text that a user writes. An endless device must not fill memory. */
const mostTextBytes = 16 * 1024 * 1024;
/** Nine hours of PCM. */
const mostBytes = 1024 * 1024 * 1024;

/**
 * The text (UTF-8) of a file that the user names, or of standard input for `-`. Throws `bad-input` if it cannot be
 * used, `input-output` if the system fails, or the signal's reason.
 */
export async function readText(path: string, input: Stdin): Promise<string> {
  const bytes = await readAll(path, input, mostTextBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refusal(nameOf(path), 'it is not UTF-8 text', undefined, cause);
  }
}

/** The bytes of a file that the user names, or of standard input for `-`. Throws like `readText`. */
export function readBytes(path: string, input: Stdin): Promise<Buffer> {
  return readAll(path, input, mostBytes);
}

async function readAll(path: string, { stdin, signal, awaits }: Stdin, most: number): Promise<Buffer> {
  signal.throwIfAborted();
  awaits?.(nameOf(path));
  const source = path === '-' ? createStreamInput(stdin, nameOf(path)) : await openFile(path);
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
    awaits?.(undefined);
  }
}

/** Loads what reads files here, because most commands read none. */
async function openFile(path: string): Promise<ByteInput> {
  const { openFileInput } = await import('./file-input.ts');
  return openFileInput(path);
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
