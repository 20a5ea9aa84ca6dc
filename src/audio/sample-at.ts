/**
 * The sample of s16le audio that begins at this byte. The judges of audio read each sample: `readInt16LE` also checks its
 * argument each time, and takes several times as long. Both bytes must be there.
 */
export function sampleAt(pcm: Uint8Array, at: number): number {
  return (((pcm[at + 1] as number) << 24) >> 16) | (pcm[at] as number);
}
