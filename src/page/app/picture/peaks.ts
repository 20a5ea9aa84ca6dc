/** The loudest amplitude, 0 to 1, from one time (ms) to another. */
export type Peaks = (fromMs: number, toMs: number) => number;

/** Samples under one precomputed peak; a closer view uses the samples themselves. */
const blockSamples = 64;

/** Peaks of a voice that is completely known: s16 samples. */
export function peaksOfSamples(samples: Int16Array, sampleRate: number): Peaks {
  const blocks = new Uint16Array(Math.ceil(samples.length / blockSamples));
  for (let index = 0; index < samples.length; index += 1) {
    const block = Math.floor(index / blockSamples);
    blocks[block] = Math.max(blocks[block] ?? 0, Math.abs(samples[index] ?? 0));
  }
  const perMs = sampleRate / 1000;
  return (fromMs, toMs) => {
    const isCoarse = (toMs - fromMs) * perMs > 2 * blockSamples;
    const source = isCoarse ? blocks : samples;
    const scale = isCoarse ? blockSamples : 1;
    return loudest(source, (fromMs * perMs) / scale, (toMs * perMs) / scale) / 0x8000;
  };
}

/** Peaks that arrive one by one: a byte for each `peakMs`. */
export function peaksOfBytes(bytes: () => Uint8Array, peakMs: number): Peaks {
  return (fromMs, toMs) => loudest(bytes(), fromMs / peakMs, toMs / peakMs) / 255;
}

function loudest(source: ArrayLike<number>, from: number, to: number): number {
  const end = Math.min(source.length, Math.ceil(to));
  let peak = 0;
  for (let index = Math.floor(from); index < end; index += 1)
    peak = Math.max(peak, Math.abs(source[index] ?? 0));
  return peak;
}
