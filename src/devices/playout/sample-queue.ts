import { createBlockJoiner } from '../../audio/whole-samples.ts';
import { bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';

/** s16le that waits to be played. Not bounded here: whoever fills it looks at `bytes`. */
export interface SampleQueue {
  /** Half a sample at the end is kept for the next call. */
  push(pcm: Buffer): void;
  /** Up to `count` samples, −1 to 1; fewer where there are no more. */
  read(count: number): Float32Array;
  /** The next `count` samples without taking them. */
  peek(count: number): Float32Array;
  skip(count: number): void;
  clear(): void;
  readonly bytes: number;
  readonly ms: number;
}

export function createSampleQueue(): SampleQueue {
  let chunks: Buffer[] = [];
  /** How much of the first chunk was taken. */
  let taken = 0;
  /** How many chunks at the front were taken; they are let go together. */
  let done = 0;
  let bytes = 0;
  const samples = createBlockJoiner();

  const advance = (count: number) => {
    let left = Math.min(bytes, count * bytesPerSample);
    bytes -= left;
    while (left > 0) {
      const chunk = chunks[done] as Buffer;
      const part = Math.min(left, chunk.length - taken);
      taken += part;
      left -= part;
      if (taken < chunk.length) break;
      taken = 0;
      done += 1;
    }
    if (done > 256 && done * 2 > chunks.length) {
      chunks = chunks.slice(done);
      done = 0;
    }
  };
  const peek = (count: number) => {
    const samples = new Float32Array(Math.min(count, bytes / bytesPerSample));
    let offset = taken;
    for (let index = 0, at = done; index < samples.length; ) {
      const chunk = chunks[at] as Buffer;
      for (; offset < chunk.length && index < samples.length; offset += bytesPerSample, index += 1) {
        samples[index] = chunk.readInt16LE(offset) / 0x8000;
      }
      at += 1;
      offset = 0;
    }
    return samples;
  };
  return {
    push(pcm) {
      const whole = samples.push(pcm);
      if (whole.length === 0) return;
      chunks.push(whole);
      bytes += whole.length;
    },
    read(count) {
      const samples = peek(count);
      advance(samples.length);
      return samples;
    },
    peek,
    skip: advance,
    clear() {
      chunks = [];
      [taken, done, bytes] = [0, 0, 0];
      samples.clear();
    },
    get bytes() {
      return bytes;
    },
    get ms() {
      return msForBytes(bytes);
    },
  };
}
