import { bytesForMs, msForBytes } from '../../protocol/audio-format.ts';

/** The user's audio from some way before the turn. */
export interface UtteranceBuffer {
  push(pcm: Buffer): void;
  /** Drops what lies before the last `bytes`, as far as it fills whole blocks. */
  forgetBefore(bytes: number): void;
  /** The audio between two moments, in milliseconds since the stream began, as far as it is still held. */
  slice(fromMs: number, toMs: number): Buffer;
}

const blockBytes = bytesForMs(250);

/**
 * Audio is copied into blocks: a message may be of two bytes, and each that is kept would keep the whole read of the
 * socket that it came in. Bounded by the preroll and the gate's longest turn.
 */
export function createUtteranceBuffer(): UtteranceBuffer {
  const blocks: Buffer[] = [];
  /** Bytes of the stream before the first block, and in the blocks. */
  let start = 0;
  let length = 0;
  return {
    push(pcm) {
      for (let from = 0; from < pcm.length; ) {
        const at = length % blockBytes;
        if (at === 0) blocks.push(Buffer.allocUnsafeSlow(blockBytes));
        blocks.at(-1)?.set(pcm.subarray(from, from + blockBytes - at), at);
        const bytes = Math.min(pcm.length - from, blockBytes - at);
        from += bytes;
        length += bytes;
      }
    },
    forgetBefore(bytes) {
      while (length - blockBytes >= bytes) {
        blocks.shift();
        length -= blockBytes;
        start += blockBytes;
      }
    },
    slice(fromMs, toMs) {
      const from = Math.max(0, bytesForMs(Math.max(fromMs, msForBytes(start))) - start);
      const to = Math.min(length, bytesForMs(toMs) - start);
      return Buffer.concat(blocks).subarray(from, Math.max(from, to));
    },
  };
}
