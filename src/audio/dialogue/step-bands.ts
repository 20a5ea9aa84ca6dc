/**
 * How many independent values each band has in a step of 80 samples: 0 to 100 Hz, then to 0.5, 1, 2, 4, and 8 kHz.
 */
export const bandValues = [1, 4, 5, 10, 20, 40] as const;
export const bandCount = bandValues.length;
const halvings = 4;

/**
 * Returns the mean of a step, and writes the power in each band above 100 Hz: the mean square of the samples. The sum of all
 * bands, with the square of the mean as the first one, is the power of the step. Overwrites `samples`.
 *
 * A Haar wavelet tree: repeated means and differences of neighbours. It needs no samples of other steps.
 */
export function splitIntoBands(samples: Float64Array, into: Float32Array): number {
  let count = samples.length;
  for (let halved = 1; halved <= halvings; halved += 1) {
    count /= 2;
    let power = 0;
    for (let index = 0; index < count; index += 1) {
      const left = samples[2 * index] as number;
      const right = samples[2 * index + 1] as number;
      power += (left - right) * (left - right);
      samples[index] = (left + right) / 2;
    }
    into[bandCount - halved] = power / 4 / count;
  }
  let sum = 0;
  let square = 0;
  for (let index = 0; index < count; index += 1) {
    const one = samples[index] as number;
    sum += one;
    square += one * one;
  }
  const mean = sum / count;
  into[1] = Math.max(0, square / count - mean * mean);
  return mean;
}
