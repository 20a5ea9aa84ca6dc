import { bytesPerSample, sampleRate } from '../protocol/audio-format.ts';
import { createTransform } from './transform.ts';

/** 32 ms: long enough to separate the tones of a voice, short enough for its syllables. */
const windowSamples = 512;
const hopSamples = 256;
/** Bands between these frequencies, which telephone lines pass too; of equal width to the ear. */
const lowestHz = 150;
const highestHz = 3_600;
export const bands = 20;
/** Audio this far below the loudest frame is silence. */
const rangeDb = 45;

/** The levels of `bands` frequency bands, one row per hop: decibels above silence; 0 is silent. */
export interface Spectrogram {
  rows: Float32Array;
  length: number;
}

/** The spectrogram of 16 kHz s16le mono, without silence at its start and end. Empty if there is only silence. */
export function measureSpectrogram(pcm: Buffer): Spectrogram {
  const samples = Math.floor(pcm.length / bytesPerSample);
  const count = Math.max(0, Math.ceil((samples - windowSamples) / hopSamples) + 1);
  const rows = new Float32Array(count * bands);
  const fft = createFft(windowSamples);
  for (let row = 0; row < count; row += 1) {
    fft.load((at) => {
      const index = row * hopSamples + at;
      return index < samples ? pcm.readInt16LE(index * bytesPerSample) : 0;
    });
    for (let band = 0; band < bands; band += 1)
      rows[row * bands + band] = 10 * Math.log10(fft.power(edges[band] ?? 0, edges[band + 1] ?? 0) + 1);
  }
  return trim(aboveSilence(rows), count);
}

/** The FFT indexes at which bands begin, and at which the last one ends. Spaced on the mel scale. */
const edges = Array.from({ length: bands + 1 }, (_, band) => {
  const mel = (hz: number) => Math.log1p(hz / 700);
  const at = mel(lowestHz) + ((mel(highestHz) - mel(lowestHz)) * band) / bands;
  return Math.round((700 * Math.expm1(at) * windowSamples) / sampleRate);
});

function aboveSilence(rows: Float32Array): Float32Array {
  const silence = rows.reduce((loudest, level) => Math.max(loudest, level), rangeDb) - rangeDb;
  return rows.map((level) => Math.max(0, level - silence));
}

function trim(rows: Float32Array, count: number): Spectrogram {
  const isSilent = (row: number) =>
    rows.subarray(row * bands, (row + 1) * bands).every((level) => level === 0);
  let first = 0;
  let end = count;
  while (first < end && isSilent(first)) first += 1;
  while (end > first && isSilent(end - 1)) end -= 1;
  return { rows: rows.subarray(first * bands, end * bands), length: end - first };
}

/** A Fourier transform of `size` windowed samples; `size` is a power of two. */
export function createFft(size: number) {
  const { re, im, placeOf, cosine, transform } = createTransform(size);
  return {
    load(sample: (at: number) => number) {
      im.fill(0);
      for (let at = 0; at < size; at += 1)
        re[placeOf[at] as number] = (sample(at) * (1 - (cosine[at] as number))) / 2;
      transform();
    },
    /** The mean power of the frequencies with these indexes. */
    power(from: number, to: number) {
      let sum = 0;
      for (let at = from; at < to; at += 1) sum += (re[at] as number) ** 2 + (im[at] as number) ** 2;
      return sum / (to - from);
    },
  };
}
