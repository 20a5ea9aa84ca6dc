import { designFilterBank, dot } from './resample.ts';

/**
 * Plays mono samples a little faster or slower, like a tape, for two clocks that differ by a fraction of a percent. The output
 * is 25 samples late.
 */
export interface Stretcher {
  /** How many new samples the next `count` need at this speed. */
  needed(count: number, speed: number): number;
  /** The next `count` samples. Takes exactly `needed(count, speed)` new ones. */
  stretch(samples: Float32Array, count: number, speed: number): Float32Array;
  /** Forgets the samples that it still holds. */
  clear(): void;
}

/** Half the length of the filter in samples: flat up to 6.5 kHz at 16 kHz. */
const halfLength = 24;

/** A stretcher with a windowed sinc, for speeds of about 1. */
export function createStretcher(): Stretcher {
  // With numbers this large there are 1,024 rows and one more, because any position occurs.
  const { coefficients, taps, phases } = designFilterBank(8192, 8191, halfLength);
  let history = new Float32Array(taps);
  /** Position of the next output after its first sample: 0 to 1. */
  let part = 0;

  return {
    needed: (count, speed) => Math.floor(part + count * speed),
    stretch(samples, count, speed) {
      const window = new Float32Array(history.length + samples.length);
      window.set(history);
      window.set(samples, history.length);
      const output = new Float32Array(count);
      for (let index = 0; index < count; index += 1) {
        const at = part + index * speed;
        const start = Math.floor(at);
        // The nearest row is good enough: the error is below −65 dB up to 4 kHz.
        const row = Math.round((at - start) * phases);
        output[index] = dot(coefficients, row * taps, window, start, taps);
      }
      const end = part + count * speed;
      part = end - Math.floor(end);
      history = window.slice(-taps);
      return output;
    },
    clear() {
      history = new Float32Array(taps);
    },
  };
}
