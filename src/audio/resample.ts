import { VoicectlError } from '../kernel/errors.ts';

/** A low-pass filter, split into one row of coefficients for each position between two input samples. */
interface FilterBank {
  /** Coefficients in a row: a multiple of 4. */
  readonly taps: number;
  /** Positions between two input samples. */
  readonly phases: number;
  /** `phases` rows; one more, for interpolation, if `exact` is false. */
  readonly coefficients: Float32Array;
  /** Whether there is a row for every position that occurs. */
  readonly exact: boolean;
}

/** Kaiser window for 100 dB: β = 0.1102 × (100 − 8.7). */
const beta = 10.06;
/** Half the filter's length in samples of the lower rate: 100 dB over a transition of 0.9 to 1.0 of its Nyquist. */
const halfLength = 64;
/** Middle of the transition, in units of the lower Nyquist frequency. */
const cutoff = 0.95;
/** Maximum number of coefficients for exact rows: 1 MiB. */
const maxExactCoefficients = 262_144;
/** Rows per sample of the lower rate for interpolation: its error is then about −118 dB. */
const interpolatedPhases = 1024;

/** The latest filters, because all streams of a process have the same few rates. Up to 8 MB each. */
const designed = new Map<string, FilterBank>();
const mostDesigned = 4;

/**
 * The filter that changes a rate by `up / down`, a fraction in lowest terms. A shorter `length` costs less and has a wider
 * transition. The filter is shared: its coefficients must not change.
 */
export function designFilterBank(up: number, down: number, length = halfLength): FilterBank {
  const key = `${up}/${down}/${length}`;
  const bank = designed.get(key) ?? computeFilterBank(up, down, length);
  // The one that was used last is forgotten last.
  designed.delete(key);
  designed.set(key, bank);
  for (const oldest of [...designed.keys()].slice(0, -mostDesigned)) designed.delete(oldest);
  return bank;
}

function computeFilterBank(up: number, down: number, length: number): FilterBank {
  const scale = Math.min(1, up / down);
  const half = 2 * Math.ceil(length / scale / 2);
  const taps = 2 * half;
  const exact = up * taps <= maxExactCoefficients;
  const phases = exact ? up : Math.max(32, Math.ceil(interpolatedPhases * scale));
  const rows = exact ? phases : phases + 1;
  const coefficients = new Float32Array(rows * taps);
  const row = new Float64Array(taps);
  for (let index = 0; index < rows; index += 1) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap += 1) {
      const distance = index / phases + half - 1 - tap;
      const value = sinc(cutoff * scale * distance) * kaiser(distance / half);
      row[tap] = value;
      sum += value;
    }
    // Every row passes a constant unchanged, so that rows differ only in delay.
    coefficients.set(
      row.map((value) => value / sum),
      index * taps,
    );
  }
  return { taps, phases, coefficients, exact };
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return x <= -1 || x >= 1 ? 0 : bessel(beta * Math.sqrt(1 - x * x));
}

/** The modified Bessel function of the first kind and order zero, by its series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/**
 * The dot product of `length` numbers, a multiple of 4, beginning at each start. Four parallel sums, so that the processor
 * does not wait for one addition before the next.
 */
export function dot(
  a: Float32Array,
  aStart: number,
  b: Float32Array,
  bStart: number,
  length: number,
): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  for (let i = 0; i < length; i += 4) {
    const p = aStart + i;
    const q = bStart + i;
    sum0 += (a[p] ?? 0) * (b[q] ?? 0);
    sum1 += (a[p + 1] ?? 0) * (b[q + 1] ?? 0);
    sum2 += (a[p + 2] ?? 0) * (b[q + 2] ?? 0);
    sum3 += (a[p + 3] ?? 0) * (b[q + 3] ?? 0);
  }
  return sum0 + sum1 + (sum2 + sum3);
}

export const minRate = 1_000;
export const maxRate = 384_000;

/** How many samples are added to the window before it moves. */
const windowSamples = 4096;

/** Changes the rate of a stream of mono samples. The state is one window, whatever the length of the stream. */
export interface Resampler {
  /** Takes any number of samples, and returns those that are ready. The output does not depend on chunk sizes. */
  push(samples: Float32Array): Float32Array;
  /** Returns the last samples. Call it once, at the end. */
  flush(): Float32Array;
}

/**
 * A polyphase resampler with a windowed sinc (Kaiser, 100 dB; flat up to 0.9 of the lower Nyquist frequency). Its delay is
 * compensated: output sample `n` is at the time of input sample `n × fromRate / toRate`, and the last one begins before the
 * input ends. Rates are whole numbers from 1,000 to 384,000 Hz, else `bad-input`.
 */
export function createResampler(fromRate: number, toRate: number): Resampler {
  for (const rate of [fromRate, toRate]) {
    if (!Number.isInteger(rate) || rate < minRate || rate > maxRate) {
      throw new VoicectlError('bad-input', `Cannot resample audio of ${rate} Hz`, { details: { rate } });
    }
  }
  if (fromRate === toRate) return { push: (samples) => samples, flush: () => new Float32Array(0) };
  const divisor = greatestCommonDivisor(fromRate, toRate);
  const up = toRate / divisor;
  const down = fromRate / divisor;
  return createPolyphase(up, down, designFilterBank(up, down));
}

function createPolyphase(up: number, down: number, bank: FilterBank): Resampler {
  const { taps } = bank;
  const half = taps / 2;
  const wholeStep = Math.floor(down / up);
  const partStep = down % up;
  const window = new Float32Array(taps + wholeStep + windowSamples);
  // The next output is at `centre + part / up` in the window; the first one is at the first sample, after silence.
  let centre = half - 1;
  let part = 0;
  let filled = half - 1;

  const produce = (output: Float32Array, from: number): number => {
    let count = from;
    while (centre + half < filled) {
      output[count] = convolve(bank, window, centre - half + 1, part / up);
      count += 1;
      centre += wholeStep;
      part += partStep;
      if (part >= up) {
        part -= up;
        centre += 1;
      }
    }
    return count;
  };
  const makeRoom = () => {
    const done = centre - half + 1;
    window.copyWithin(0, done, filled);
    centre -= done;
    filled -= done;
  };
  const push = (samples: Float32Array): Float32Array => {
    const output = new Float32Array(Math.ceil((samples.length * up) / down) + 1);
    let count = 0;
    for (let taken = 0; taken < samples.length; ) {
      if (filled === window.length) makeRoom();
      const fitting = samples.subarray(taken, taken + window.length - filled);
      window.set(fitting, filled);
      filled += fitting.length;
      taken += fitting.length;
      count = produce(output, count);
    }
    return output.subarray(0, count);
  };
  return { push, flush: () => push(new Float32Array(half)) };
}

/** One output sample: the window from `start`, weighted by the row for `position`: 0 to 1 between two input samples. */
function convolve(bank: FilterBank, window: Float32Array, start: number, position: number): number {
  const { coefficients, taps } = bank;
  const place = position * bank.phases;
  if (bank.exact) return dot(coefficients, Math.round(place) * taps, window, start, taps);
  const row = Math.floor(place);
  const before = dot(coefficients, row * taps, window, start, taps);
  const after = dot(coefficients, (row + 1) * taps, window, start, taps);
  return before + (place - row) * (after - before);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
