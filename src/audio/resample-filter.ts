/** A low-pass filter, split into one row of coefficients for each position between two input samples. */
export interface FilterBank {
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
