import { bytesForMs, bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';

/** Audio that waits to be played. The caller limits it by `bytes`. */
export interface SampleQueue {
  /** Takes whole samples (s16le) that arrived now. */
  push(pcm: Buffer, now: number): void;
  /** Up to `count` samples, −1 to 1; fewer if there are no more. */
  read(count: number): Float32Array;
  /** The next `count` samples, without removing them. */
  peek(count: number): Float32Array;
  skip(count: number): void;
  clear(): void;
  /** When the last of the next `count` samples was spoken; messages count as spoken until they arrive. Undefined if it is missing. */
  spokenAt(count: number): number | undefined;
  readonly bytes: number;
  readonly ms: number;
}

interface Chunk {
  readonly pcm: Buffer;
  /** When the last of it arrived. */
  readonly at: number;
  /** Set if it was joined from several messages. */
  readonly joined?: { store: Buffer; since: number };
}

/** Messages that are shorter are joined up to this length: what is kept for a message can be a hundred times its audio. */
const joinedBytes = bytesForMs(5);
/** Messages that came within this time are joined: their times are no longer told apart. */
const joinedMs = 5;

/** The chunk with this audio at its end. Undefined if the two are kept apart. */
function join({ pcm, at, joined }: Chunk, more: Buffer, now: number): Chunk | undefined {
  const length = pcm.length + more.length;
  const since = joined?.since ?? at;
  if (length > joinedBytes || now - since > joinedMs) return undefined;
  const store = joined?.store ?? Buffer.alloc(joinedBytes);
  if (joined === undefined) pcm.copy(store);
  more.copy(store, pcm.length);
  return { pcm: store.subarray(0, length), at: now, joined: { store, since } };
}

export function createSampleQueue(): SampleQueue {
  let chunks: Chunk[] = [];
  /** Bytes that were taken from the first chunk. */
  let taken = 0;
  /** Chunks at the front that were taken; they are removed together. */
  let done = 0;
  let bytes = 0;

  const advance = (count: number) => {
    let left = Math.min(bytes, count * bytesPerSample);
    bytes -= left;
    while (left > 0) {
      const { pcm } = chunks[done] as Chunk;
      const part = Math.min(left, pcm.length - taken);
      taken += part;
      left -= part;
      if (taken < pcm.length) break;
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
      const { pcm } = chunks[at] as Chunk;
      for (; offset < pcm.length && index < samples.length; offset += bytesPerSample, index += 1) {
        samples[index] = (((pcm[offset] ?? 0) << 16) | ((pcm[offset + 1] ?? 0) << 24)) / 0x80000000;
      }
      at += 1;
      offset = 0;
    }
    return samples;
  };
  return {
    push(pcm, now) {
      if (pcm.length === 0) return;
      bytes += pcm.length;
      const last = chunks.length > done ? chunks.at(-1) : undefined;
      const longer = last && join(last, pcm, now);
      if (longer === undefined) chunks.push({ pcm, at: now });
      else chunks[chunks.length - 1] = longer;
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
    },
    spokenAt(count) {
      let left = count * bytesPerSample + taken;
      for (let at = done; at < chunks.length; at += 1) {
        const chunk = chunks[at] as Chunk;
        left -= chunk.pcm.length;
        if (left <= 0) return chunk.at + (left < 0 ? -msForBytes(-left) : 0);
      }
      return undefined;
    },
    get bytes() {
      return bytes;
    },
    get ms() {
      return msForBytes(bytes);
    },
  };
}
