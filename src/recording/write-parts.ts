import type { WavFile } from '../audio/wav/wav-file.ts';
import { bytesForMs } from '../protocol/audio-format.ts';

const silenceChunk = Buffer.alloc(bytesForMs(1_000));

/** Writes PCM and silence, which is a number of bytes. Throws what the file throws. */
export async function writeParts(file: WavFile, parts: readonly (Buffer | number)[]): Promise<void> {
  let pcm: Buffer[] = [];
  for (const part of parts) {
    if (typeof part !== 'number') {
      pcm.push(part);
      continue;
    }
    await file.write(Buffer.concat(pcm));
    pcm = [];
    for (let left = part; left > 0; left -= silenceChunk.length) {
      await file.write(silenceChunk.subarray(0, Math.min(left, silenceChunk.length)));
    }
  }
  await file.write(Buffer.concat(pcm));
}
