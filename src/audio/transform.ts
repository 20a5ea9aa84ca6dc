import { bytesPerSample, sampleRate } from '../protocol/audio-format.ts';
import { sampleAt } from './sample-at.ts';

/**
 * A Fourier transform of `size` complex numbers in place; `size` is a power of two. Before `transform`, write the value of an
 * index to `placeOf` that index; afterwards each frequency is at its own index.
 */
export function createTransform(size: number) {
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  const cosine = Float64Array.from({ length: size }, (_, at) => Math.cos((2 * Math.PI * at) / size));
  const sine = Float64Array.from({ length: size }, (_, at) => -Math.sin((2 * Math.PI * at) / size));
  const placeOf = Uint16Array.from({ length: size }, (_, at) => reverseBits(at, Math.log2(size)));
  /** Joins pairs of transforms of `half` numbers. */
  const join = (half: number) => {
    const turn = size / (2 * half);
    for (let start = 0; start < size; start += 2 * half)
      for (let at = 0; at < half; at += 1) {
        const even = start + at;
        const odd = even + half;
        const c = cosine[at * turn] as number;
        const s = sine[at * turn] as number;
        const x = (re[odd] as number) * c - (im[odd] as number) * s;
        const y = (re[odd] as number) * s + (im[odd] as number) * c;
        re[odd] = (re[even] as number) - x;
        im[odd] = (im[even] as number) - y;
        re[even] = (re[even] as number) + x;
        im[even] = (im[even] as number) + y;
      }
  };
  const transform = () => {
    for (let half = 1; half < size; half *= 2) join(half);
  };
  return { re, im, placeOf, cosine, transform };
}

/**
 * Helps to find where audio is most like a shorter piece: `products(piece, audio)` returns the dot product of the piece with
 * the audio at each place at which it fits. The result is valid until the next call.
 */
export function createCorrelation(pieceLength: number, audioLength: number) {
  const size = 2 ** Math.ceil(Math.log2(audioLength));
  const both = createTransform(size);
  const product = createTransform(size);
  const { placeOf } = both;
  return {
    products(piece: Float32Array, audio: Float32Array): Float64Array {
      both.re.fill(0);
      both.im.fill(0);
      // One transform for both: the even part of the spectrum comes from the real input, the odd part from the imaginary one.
      for (let at = 0; at < audioLength; at += 1) both.re[placeOf[at] as number] = audio[at] as number;
      for (let at = 0; at < pieceLength; at += 1) both.im[placeOf[at] as number] = piece[at] as number;
      both.transform();
      for (let at = 0; at < size; at += 1) {
        const mirror = (size - at) % size;
        const audioRe = (both.re[at] as number) + (both.re[mirror] as number);
        const audioIm = (both.im[at] as number) - (both.im[mirror] as number);
        const pieceRe = (both.im[at] as number) + (both.im[mirror] as number);
        const pieceIm = (both.re[mirror] as number) - (both.re[at] as number);
        const place = placeOf[at] as number;
        product.re[place] = (pieceRe * audioRe + pieceIm * audioIm) / (4 * size);
        product.im[place] = (pieceIm * audioRe - pieceRe * audioIm) / (4 * size);
      }
      product.transform();
      return product.re;
    },
  };
}

function reverseBits(value: number, bits: number): number {
  let reversed = 0;
  for (let bit = 0; bit < bits; bit += 1) reversed |= ((value >> bit) & 1) << (bits - 1 - bit);
  return reversed;
}

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
      return index < samples ? sampleAt(pcm, index * bytesPerSample) : 0;
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
