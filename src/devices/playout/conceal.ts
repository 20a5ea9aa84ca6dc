/** Stands in for audio that has not come: what was played last, mirrored and faded, so that nothing clicks. */
export interface Concealer {
  /** Samples that were played, and the beginning of new ones after a gap, which is faded in. */
  played(samples: Float32Array): Float32Array;
  /** The next samples of the gap: silence after 40 ms. */
  conceal(count: number): Float32Array;
  /** Whether what was played last can still be heard in a gap, or would be. */
  readonly fading: boolean;
}

const fadeOutSamples = 640;
const fadeInSamples = 80;

export function createConcealer(): Concealer {
  let memory = new Float32Array(fadeOutSamples);
  /** Samples into the gap; undefined where there is none. */
  let gapAt: number | undefined = fadeOutSamples;
  return {
    get fading() {
      return gapAt === undefined || gapAt < fadeOutSamples;
    },
    played(samples) {
      if (samples.length === 0) return samples;
      if (gapAt !== undefined) {
        gapAt = undefined;
        const faded = Math.min(fadeInSamples, samples.length);
        for (let index = 0; index < faded; index += 1) {
          samples[index] = ((samples[index] ?? 0) * (index + 1)) / (fadeInSamples + 1);
        }
      }
      const joined = new Float32Array(memory.length + samples.length);
      joined.set(memory);
      joined.set(samples, memory.length);
      memory = joined.slice(-fadeOutSamples);
      return samples;
    },
    conceal(count) {
      const from = gapAt ?? 0;
      gapAt = from + count;
      const samples = new Float32Array(count);
      for (let index = 0; index < count && from + index < fadeOutSamples; index += 1) {
        const into = from + index;
        samples[index] = (memory[fadeOutSamples - 1 - into] ?? 0) * (1 - into / fadeOutSamples);
      }
      return samples;
    },
  };
}
