/** Audio (16 kHz s16le mono) that is read frame by frame while it is sent. */
export interface Playable {
  /** The next PCM, at most `bytes` bytes; empty while more is being produced; undefined at the end. */
  read(bytes: number): Buffer | undefined;
}

/** A playable of the given PCM. The buffer is not copied. */
export function playPcm(pcm: Buffer): Playable {
  let offset = 0;
  return {
    read(bytes) {
      if (offset >= pcm.length) return undefined;
      const frame = pcm.subarray(offset, offset + bytes);
      offset += frame.length;
      return frame;
    },
  };
}
