import { bytesPerSample } from '../protocol/audio-format.ts';
import { sampleAt } from './sample-at.ts';

/** A value as a 16-bit sample: rounded and clamped. */
export function toSample(value: number): number {
  return Math.max(-0x8000, Math.min(0x7fff, Math.round(value)));
}

/** Changes each sample of s16le, given its index. Half a sample at the end stays unchanged. */
export function mapSamples(pcm: Buffer, change: (sample: number, index: number) => number): Buffer {
  const changed = Buffer.from(pcm);
  for (let index = 0; index * bytesPerSample + 1 < pcm.length; index += 1) {
    const at = index * bytesPerSample;
    const sample = toSample(change(sampleAt(pcm, at), index));
    changed[at] = sample;
    changed[at + 1] = sample >> 8;
  }
  return changed;
}

/** Samples of −1 to 1 as s16le, rounded and clamped. */
export function encodeS16le(samples: Float32Array): Buffer {
  const pcm = Buffer.allocUnsafeSlow(samples.length * bytesPerSample);
  let offset = 0;
  for (const sample of samples) {
    const value = toSample(sample * 0x8000);
    pcm[offset] = value;
    pcm[offset + 1] = value >> 8;
    offset += bytesPerSample;
  }
  return pcm;
}
