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
