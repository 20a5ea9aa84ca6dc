import { bytesPerSample } from '../protocol/audio-format.ts';

/** The loudest amplitude (0 to 1) in each of `columns` equal parts of `pcm`, which has `bytes` in all. */
export function readPeaks(pcm: Buffer, bytes: number, columns: number): number[] {
  const samples = Math.ceil(bytes / bytesPerSample);
  const at = (column: number) => Math.floor((column * samples) / columns);
  return Array.from({ length: columns }, (_, column) => {
    let peak = 0;
    const end = Math.min(Math.floor(pcm.length / bytesPerSample), at(column + 1));
    for (let index = at(column); index < end; index += 1) {
      peak = Math.max(peak, Math.abs(pcm.readInt16LE(index * bytesPerSample)));
    }
    return peak / 0x8000;
  });
}
