import { bytesPerSample } from '../protocol/audio-format.ts';

/** Samples of −1 to 1 as s16le, rounded; louder ones are clamped. */
export function encodeS16le(samples: Float32Array): Buffer {
  const pcm = Buffer.allocUnsafeSlow(samples.length * bytesPerSample);
  let offset = 0;
  for (const sample of samples) {
    const value = Math.max(-0x8000, Math.min(0x7fff, Math.round(sample * 0x8000)));
    pcm[offset] = value;
    pcm[offset + 1] = value >> 8;
    offset += bytesPerSample;
  }
  return pcm;
}
