import { bytesPerSample, msForBytes, sampleRate } from '../protocol/audio-format.ts';

/** Where a sound is in a recording, and how similar the recording is there: 1 is identical, 0 unrelated. */
export interface Found {
  readonly atMs: number;
  readonly likeness: number;
}

/** Searches a recording for a sound, both 16 kHz s16le mono. Undefined if the recording is shorter. */
export function findSound(sound: Buffer, recording: Buffer): Found | undefined {
  const best = findSamples(samplesOf(sound), samplesOf(recording));
  return best && { atMs: msForBytes(best.at * bytesPerSample), likeness: best.likeness };
}

/** The most similar place in `heard`, and its gain relative to `wanted`. */
export function findSamples(
  wanted: Float64Array,
  heard: Float64Array,
): { at: number; likeness: number; gain: number } | undefined {
  const energy = wanted.reduce((sum, sample) => sum + sample * sample, 0);
  let best: { at: number; likeness: number; gain: number } | undefined;
  // The energy within the moving window.
  let heardEnergy = 0;
  for (let index = 0; index < wanted.length; index += 1) heardEnergy += (heard[index] ?? 0) ** 2;
  for (let at = 0; at + wanted.length <= heard.length; at += 1) {
    let product = 0;
    for (let index = 0; index < wanted.length; index += 1) {
      product += (wanted[index] ?? 0) * (heard[at + index] ?? 0);
    }
    // Some devices invert the signal.
    const likeness = heardEnergy <= 0 ? 0 : Math.abs(product) / Math.sqrt(energy * heardEnergy);
    if (best === undefined || likeness > best.likeness)
      best = { at, likeness, gain: Math.abs(product) / energy };
    heardEnergy += (heard[at + wanted.length] ?? 0) ** 2 - (heard[at] ?? 0) ** 2;
  }
  return best;
}

/** A sweep from 500 to 3,500 Hz: it resembles no other sound, and itself only at one place. */
export function makeSweep(ms: number): Buffer {
  const count = Math.round((ms * sampleRate) / 1000);
  const pcm = Buffer.alloc(count * bytesPerSample);
  for (let index = 0; index < count; index += 1) {
    const seconds = index / sampleRate;
    const phase = 2 * Math.PI * (500 * seconds + (1_500 * seconds * seconds * 1000) / ms);
    const envelope = Math.sin((Math.PI * index) / count);
    pcm.writeInt16LE(Math.round(0.4 * 0x7fff * envelope * Math.sin(phase)), index * bytesPerSample);
  }
  return pcm;
}

function samplesOf(pcm: Buffer): Float64Array {
  const samples = new Float64Array(Math.floor(pcm.length / bytesPerSample));
  for (let index = 0; index < samples.length; index += 1) {
    samples[index] = pcm.readInt16LE(index * bytesPerSample);
  }
  return samples;
}
