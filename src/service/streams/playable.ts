import { type Pcm, pcmBytes } from '../../audio/whole-pcm.ts';

/** Audio (16 kHz s16le mono) that is read frame by frame while it is sent. */
export interface Playable {
  /** The next PCM, at most `bytes` bytes; empty while more is being produced; undefined at the end. */
  read(bytes: number): Buffer | undefined;
}

/** A playable of the given PCM, which is not copied. Throws `usage` if it is not PCM. */
export function playPcm(pcm: Pcm): Playable {
  const all = pcmBytes(pcm);
  let offset = 0;
  return {
    read(bytes) {
      if (offset >= all.length) return undefined;
      const frame = all.subarray(offset, offset + bytes);
      offset += frame.length;
      return frame;
    },
  };
}
