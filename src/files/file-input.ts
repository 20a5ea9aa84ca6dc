import { constants, createReadStream, open as openDescriptor, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type ByteInput, createStreamInput } from './byte-input.ts';
import { readFailure, refusal } from './refusal.ts';

const chunkBytes = 65_536;

/**
 * A path as an input: a regular file by offset, anything else (pipe, terminal, device) as a stream.
 * Errors: `bad-input` if it is missing, forbidden or a folder; `input-output` if the system fails.
 */
export async function openFileInput(path: string): Promise<ByteInput> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw refusal(path, 'it is a folder');
    if (!stats.isFile()) return createStreamInput(await openStream(path, stats), path);
    const handle = await open(path, 'r');
    return createFileInput(handle, path, stats.size);
  } catch (thrown) {
    throw readFailure(path, thrown);
  }
}

/**
 * A named pipe is read through a socket object: `fs` would block a thread in `open` and in `read`, and
 * Node 20 does not exit, not even by `process.exit`, while a thread is blocked in a read.
 */
async function openStream(path: string, stats: Stats): Promise<Readable> {
  if (!stats.isFIFO()) return createReadStream(path);
  const fd = await promisify(openDescriptor)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

function createFileInput(handle: FileHandle, name: string, sizeBytes: number): ByteInput {
  const read = async (offset: number, length: number): Promise<Buffer> => {
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    try {
      while (filled < length) {
        const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
    } catch (thrown) {
      throw readFailure(name, thrown);
    }
    return bytes.subarray(0, filled);
  };
  return {
    name,
    sizeBytes,
    read,
    async *chunks(offset, length) {
      for (let done = 0; done < length; ) {
        const chunk = await read(offset + done, Math.min(chunkBytes, length - done));
        if (chunk.length === 0) return;
        done += chunk.length;
        yield chunk;
      }
    },
    async close() {
      // Nothing was written, so a failed close loses nothing.
      await handle.close().catch(() => {});
    },
  };
}
