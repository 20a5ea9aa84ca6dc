import { createStepLevels, type SideLevels } from '../../src/audio/dialogue/step-levels.ts';
import { bytesForMs, sampleRate } from '../../src/protocol/audio-format.ts';

/** A sine of 440 Hz at −16 dBFS RMS: speech, to a gate by level. */
export function speech(ms: number): Buffer {
  const pcm = Buffer.alloc(bytesForMs(ms));
  for (let i = 0; i < pcm.length / 2; i += 1) {
    pcm.writeInt16LE(Math.round(7_000 * Math.sin((2 * Math.PI * 440 * i) / sampleRate)), i * 2);
  }
  return pcm;
}

export function silence(ms: number): Buffer {
  return Buffer.alloc(bytesForMs(ms));
}

/** PCM in pieces of `ms`, the last one shorter. */
export function framesOf(pcm: Buffer, ms = 20): Buffer[] {
  const bytes = bytesForMs(ms);
  return Array.from({ length: Math.ceil(pcm.length / bytes) }, (_, i) =>
    pcm.subarray(i * bytes, (i + 1) * bytes),
  );
}

/** The levels of a whole track that begins at 0 on the time axis. */
export function measureSteps(pcm: Buffer): SideLevels {
  const levels = createStepLevels();
  levels.add(0, pcm);
  return levels.read();
}
