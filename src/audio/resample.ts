import { VoicectlError } from '../kernel/errors.ts';
import { dot } from './dot.ts';
import { designFilterBank, type FilterBank } from './resample-filter.ts';

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
