/** Replaces missing audio with the last audio, mirrored and faded, to avoid clicks. */
export interface Concealer {
  /** Takes played samples. After a gap it fades the first ones in. */
  played(samples: Float32Array): Float32Array;
  /** The next samples of the gap: silence once the fade is over. */
  conceal(count: number): Float32Array;
  /** The listener wants silence: the last audio is not continued. */
  hush(): void;
  /** Whether the last played audio is, or would be, audible in a gap. */
  readonly fading: boolean;
}

const memorySamples = 640;
const fadeInSamples = 80;

export function createConcealer(): Concealer {
  let memory = new Float32Array(memorySamples);
  /** Samples into the gap. Undefined outside a gap. */
  let gapAt: number | undefined = memorySamples;
  return {
    get fading() {
      return gapAt === undefined || gapAt < memorySamples;
    },
    hush() {
      gapAt = memorySamples;
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
      memory = joined.slice(-memorySamples);
      return samples;
    },
    conceal(count) {
      const from = gapAt ?? 0;
      gapAt = from + count;
      const samples = new Float32Array(count);
      for (let index = 0; index < count && from + index < memorySamples; index += 1) {
        const into = from + index;
        samples[index] = (memory[memorySamples - 1 - into] ?? 0) * (1 - into / memorySamples);
      }
      return samples;
    },
  };
}
