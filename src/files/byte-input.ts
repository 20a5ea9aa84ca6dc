import type { Readable } from 'node:stream';
import { readFailure } from './refusal.ts';

/**
 * Bytes by offset, from a file (any offset, any order) or from a stream. A stream cannot go back: an offset
 * before the skipped or consumed part is an error of the caller.
 */
export interface ByteInput {
  /** For messages: a path, or "standard input". */
  readonly name: string;
  /** Undefined for a stream: its length is unknown, and it can be read once. */
  readonly sizeBytes: number | undefined;
  /** `length` bytes from `offset`, fewer only at the end of the input. Does not consume them. */
  read(offset: number, length: number): Promise<Buffer>;
  /** At most `length` bytes from `offset`, in chunks; each chunk belongs to the receiver. */
  chunks(offset: number, length: number): AsyncGenerator<Buffer>;
  /** Also ends a pending read. Never rejects. */
  close(): Promise<void>;
}

function toBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk));
}

/** Takes the next chunk; undefined at the end. Reading begins with the first call. */
function pullFrom(readable: Readable, name: string): () => Promise<Buffer | undefined> {
  let iterator: AsyncIterator<unknown> | undefined;
  return async () => {
    iterator ??= readable[Symbol.asyncIterator]();
    try {
      const next = await iterator.next();
      return next.done ? undefined : toBuffer(next.value);
    } catch (thrown) {
      throw readFailure(name, thrown);
    }
  };
}

/** A stream as a forward-only input. Holds no more than one chunk of it. Closing destroys the stream. */
export function createStreamInput(readable: Readable, name: string): ByteInput {
  // A stream may fail while nobody reads. Then the next read reports the failure.
  readable.on('error', () => {});
  const pull = pullFrom(readable, name);
  let pending: Buffer = Buffer.alloc(0);
  let pendingOffset = 0;

  const skipTo = async (offset: number) => {
    if (offset < pendingOffset) throw new RangeError(`${name} is a stream and cannot be rewound`);
    while (pendingOffset + pending.length < offset) {
      const chunk = await pull();
      pendingOffset += pending.length;
      pending = chunk ?? Buffer.alloc(0);
      if (chunk === undefined) {
        pendingOffset = offset;
        return;
      }
    }
    pending = pending.subarray(offset - pendingOffset);
    pendingOffset = offset;
  };

  return {
    name,
    sizeBytes: undefined,
    async read(offset, length) {
      await skipTo(offset);
      while (pending.length < length) {
        const chunk = await pull();
        if (chunk === undefined) break;
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      }
      return pending.subarray(0, length);
    },
    async *chunks(offset, length) {
      await skipTo(offset);
      for (let left = length; left > 0; ) {
        if (pending.length === 0) {
          const chunk = await pull();
          if (chunk === undefined) return;
          pending = chunk;
        }
        const part = pending.subarray(0, left);
        pending = pending.subarray(part.length);
        pendingOffset += part.length;
        left -= part.length;
        if (part.length > 0) yield part;
      }
    },
    async close() {
      readable.destroy();
    },
  };
}
