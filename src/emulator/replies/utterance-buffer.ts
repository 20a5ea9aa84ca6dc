import { bytesForMs, msForBytes } from '../../protocol/audio-format.ts';

/** The user's audio, beginning a little before the turn. */
export interface UtteranceBuffer {
  push(pcm: Buffer): void;
  /** Keeps at least the last `bytes`, and drops whole blocks before them. */
  forgetBefore(bytes: number): void;
  /** The audio between two moments, in milliseconds since the stream began, as far as it is still kept. */
  slice(fromMs: number, toMs: number): Buffer;
}

const blockBytes = bytesForMs(250);

/**
 * Copies audio into blocks: a message that is kept, even one of two bytes, would keep the memory of a whole read of the
 * socket. The caller limits the size: with `forgetBefore`, and by the longest turn of the speech gate.
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
