import { bytesPerSample } from '../protocol/audio-format.ts';

/** PCM in chunks of whole samples: half a sample is carried to the next chunk, and dropped at the end. */
export async function* wholeSamples(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let half: Buffer | undefined;
  for await (const chunk of chunks) {
    const bytes: Buffer = half ? Buffer.concat([half, chunk]) : chunk;
    const wholeBytes = bytes.length - (bytes.length % bytesPerSample);
    half = wholeBytes < bytes.length ? bytes.subarray(wholeBytes) : undefined;
    if (wholeBytes > 0) yield bytes.subarray(0, wholeBytes);
  }
}
