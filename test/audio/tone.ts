export interface Tone {
  hz: number;
  rate: number;
  seconds: number;
  amplitude?: number;
}

/** A sine, mono, as samples of −1 to 1. */
export function makeTone({ hz, rate, seconds, amplitude = 0.5 }: Tone): Float32Array {
  const samples = new Float32Array(Math.round(rate * seconds));
  for (let i = 0; i < samples.length; i += 1)
    samples[i] = amplitude * Math.sin((2 * Math.PI * hz * i) / rate);
  return samples;
}

/** The same samples in each of `channels` channels, interleaved. */
export function interleave(samples: Float32Array, channels: number): Float32Array {
  const frames = new Float32Array(samples.length * channels);
  for (let i = 0; i < frames.length; i += 1) frames[i] = samples[Math.floor(i / channels)]!;
  return frames;
}

/** s16le to samples of −1 to 1. */
export function fromPcm(pcm: Buffer): Float32Array {
  const samples = new Float32Array(pcm.length / 2);
  for (let i = 0; i < samples.length; i += 1) samples[i] = pcm.readInt16LE(i * 2) / 0x8000;
  return samples;
}

/** Samples of −1 to 1 to s16le. */
export function toPcm(samples: ArrayLike<number>): Buffer {
  const pcm = Buffer.alloc(samples.length * 2);
  for (let i = 0; i < samples.length; i += 1) {
    pcm.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, Math.round(samples[i]! * 0x8000))), i * 2);
  }
  return pcm;
}

/** A sine of known frequency fitted to the middle of the samples, without the first and last tenth. */
export function fitTone(samples: Float32Array, hz: number, rate: number) {
  const from = Math.floor(samples.length / 10);
  const middle = samples.subarray(from, samples.length - from);
  let [ss, cc, sc, xs, xc] = [0, 0, 0, 0, 0];
  const angle = (i: number) => (2 * Math.PI * hz * (i + from)) / rate;
  for (let i = 0; i < middle.length; i += 1) {
    const [s, c, x] = [Math.sin(angle(i)), Math.cos(angle(i)), middle[i]!];
    ss += s * s;
    cc += c * c;
    sc += s * c;
    xs += x * s;
    xc += x * c;
  }
  const determinant = ss * cc - sc * sc;
  const a = (xs * cc - xc * sc) / determinant;
  const b = (xc * ss - xs * sc) / determinant;
  let noise = 0;
  for (let i = 0; i < middle.length; i += 1) {
    noise += (middle[i]! - a * Math.sin(angle(i)) - b * Math.cos(angle(i))) ** 2;
  }
  const amplitude = Math.hypot(a, b);
  const snrDb = 10 * Math.log10((amplitude * amplitude) / 2 / (noise / middle.length));
  return { amplitude, phase: Math.atan2(b, a), snrDb };
}

/** RMS of the middle of the samples, without the first and last tenth. */
export function middleRms(samples: Float32Array): number {
  const from = Math.floor(samples.length / 10);
  const middle = samples.subarray(from, samples.length - from);
  return Math.sqrt(middle.reduce((sum, x) => sum + x * x, 0) / middle.length);
}

export const toDb = (ratio: number) => 20 * Math.log10(ratio);

/** Numbers of 0 to 1, the same in every run. */
export function createRandom(seed = 1): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** White noise of a given RMS in dBFS. */
export function makeNoise(count: number, rmsDbfs: number, random = createRandom()): Float32Array {
  const peak = 10 ** (rmsDbfs / 20) * Math.sqrt(3);
  return Float32Array.from({ length: count }, () => (random() * 2 - 1) * peak);
}
