import { bytesPerSample } from '../protocol/audio-format.ts';

/** Splits chunks of any length into whole blocks. */
export interface BlockJoiner {
  /** Returns all whole blocks so far, maybe none. Copies the remainder, so that the chunk may be reused. */
  push(chunk: Buffer): Buffer;
  /** Drops the remainder. */
  clear(): void;
}

/** Carries a partial block at the end of a chunk over to the next one. `blockBytes`: by default one sample. */
export function createBlockJoiner(blockBytes = bytesPerSample): BlockJoiner {
  let carried: Buffer | undefined;
  return {
    push(chunk) {
      const bytes = carried === undefined ? chunk : Buffer.concat([carried, chunk]);
      const wholeBytes = bytes.length - (bytes.length % blockBytes);
      carried = wholeBytes < bytes.length ? Buffer.from(bytes.subarray(wholeBytes)) : undefined;
      return wholeBytes < bytes.length ? bytes.subarray(0, wholeBytes) : bytes;
    },
    clear() {
      carried = undefined;
    },
  };
}

/** PCM in chunks of whole samples: half a sample is carried over to the next chunk, and dropped at the end. */
export async function* wholeSamples(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const samples = createBlockJoiner();
  for await (const chunk of chunks) {
    const whole = samples.push(chunk);
    if (whole.length > 0) yield whole;
  }
}

/**
 * Splits chunks of any size into frames of exactly `frameBytes`. The last frame is padded with silence. A frame within one
 * chunk is a view of it, not a copy. An empty input gives no frames.
 */
export async function* reframe(chunks: AsyncIterable<Buffer>, frameBytes: number): AsyncGenerator<Buffer> {
  if (!Number.isInteger(frameBytes) || frameBytes < 1)
    throw new RangeError(`no frames of ${frameBytes} bytes`);
  let partial: Buffer | undefined;
  let filled = 0;
  for await (const chunk of chunks) {
    let offset = 0;
    if (partial) {
      offset = chunk.copy(partial, filled);
      filled += offset;
      if (filled < frameBytes) continue;
      yield partial;
      partial = undefined;
    }
    for (; chunk.length - offset >= frameBytes; offset += frameBytes) {
      yield chunk.subarray(offset, offset + frameBytes);
    }
    if (offset < chunk.length) {
      partial = Buffer.alloc(frameBytes);
      filled = chunk.copy(partial, 0, offset);
    }
  }
  if (partial) yield partial;
}
