import { bytesForMs, bytesPerSample, sampleRate } from '../../protocol/audio-format.ts';
import { sampleAt } from '../sample-at.ts';
import { dialogueRules } from './rules.ts';

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
function splitIntoBands(samples: Float64Array, into: Float32Array): number {
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

export const stepSamples = (sampleRate * dialogueRules.stepMs) / 1000;
const stepBytes = bytesForMs(dialogueRules.stepMs);
/** The level of a step without audio, or of zeros. */
export const noLevel = -100;
/** An hour. Later audio is not measured. */
const mostSteps = 3_600_000 / dialogueRules.stepMs;

/** A side in steps. */
export interface SideLevels {
  /** The level of each step in dBov, without the constant offset of the side. */
  levels: Float32Array;
  /**
   * The power in each band (`bandValues`), step by step: mean squares of samples. Missing values are silent. Not a copy:
   * audio that is added later may change it.
   */
  bands: Float32Array;
}

/**
 * The level of one side in steps, whatever the sizes of its messages. State: 5.6 kB per second that is kept, at most for an
 * hour.
 */
export interface StepLevels {
  /** Takes 16 kHz s16le mono at this byte of the time axis, in order. Ignores half samples. */
  add(atByte: number, pcm: Buffer): void;
  /** Removes everything from this step on. */
  clearFrom(step: number): void;
  /** Forgets everything before this step; later audio for it is ignored. */
  forgetBefore(step: number): void;
  /** Whether audio was left out because it came after the first hour. */
  readonly isFull: boolean;
  /** All kept steps up to `endMs`. Default: up to the last audio. */
  read(endMs?: number): SideLevels;
}

export function createStepLevels(): StepLevels {
  /** The mean of each step and the power of its bands. The first band is computed when the side is read. */
  let means = new Float32Array(1_024);
  let bands = new Float32Array(1_024 * bandCount);
  let steps = 0;
  /** The first step that is kept. */
  let kept = 0;
  let isFull = false;
  /** The newest step, which may get more audio. */
  let newest = -1;
  const samples = new Float64Array(stepSamples);
  const halved = new Float64Array(stepSamples);

  const writeNewest = () => {
    if (newest < 0) return;
    halved.set(samples);
    means[newest] = splitIntoBands(halved, bands.subarray(newest * bandCount, (newest + 1) * bandCount));
  };
  const makeRoom = (needed: number) => {
    if (needed <= means.length) return;
    const most = Math.min(mostSteps, Math.max(needed, 2 * means.length));
    means = enlarge(means, most);
    bands = enlarge(bands, most * bandCount);
  };
  return {
    get isFull() {
      return isFull;
    },
    add(atByte, pcm) {
      const first = Math.floor(atByte / bytesPerSample) - kept * stepSamples;
      const room = mostSteps * stepSamples - first;
      const count = Math.min(Math.floor(pcm.length / bytesPerSample), room);
      if (room < pcm.length / bytesPerSample) isFull = true;
      if (first + count <= 0 || count <= 0) return;
      const end = Math.ceil((first + count) / stepSamples);
      makeRoom(end);
      steps = Math.max(steps, end);
      for (let index = Math.max(0, -first); index < count; ) {
        const step = Math.floor((first + index) / stepSamples);
        const until = Math.min(count, (step + 1) * stepSamples - first);
        if (step !== newest) {
          writeNewest();
          newest = step;
          samples.fill(0);
        }
        const from = first - step * stepSamples;
        for (; index < until; index += 1) samples[from + index] = sampleAt(pcm, index * bytesPerSample);
      }
    },
    clearFrom(step) {
      const from = Math.max(0, step - kept);
      writeNewest();
      newest = -1;
      means.fill(0, from);
      bands.fill(0, from * bandCount);
      steps = Math.min(steps, from);
    },
    forgetBefore(step) {
      const gone = step - kept;
      if (gone <= 0) return;
      writeNewest();
      newest -= gone;
      moveToStart(means, gone);
      moveToStart(bands, gone * bandCount);
      steps = Math.max(0, steps - gone);
      kept = step;
    },
    read(endMs) {
      writeNewest();
      const asked = endMs === undefined ? steps : Math.ceil(endMs / dialogueRules.stepMs) - kept;
      const length = Math.min(asked, mostSteps);
      const heard = Math.max(0, Math.min(steps, length));
      // An hour has 720,000 steps: the array for sorting is reused for the levels.
      const levels = new Float32Array(Math.max(steps, length));
      const offset = constantOffset(steps, { means, bands }, levels);
      measureLevels(levels.fill(noLevel).subarray(0, heard), { means, bands, offset });
      return { levels: levels.subarray(0, Math.max(0, length)), bands: bands.subarray(0, heard * bandCount) };
    },
  };
}

function enlarge(values: Float32Array, length: number): Float32Array<ArrayBuffer> {
  const larger = new Float32Array(length);
  larger.set(values);
  return larger;
}

function moveToStart(values: Float32Array, from: number): void {
  values.copyWithin(0, from).fill(0, Math.max(0, values.length - from));
}

/** Writes the power of each first band, without `offset`, and the level of each step. */
function measureLevels(levels: Float32Array, { means, bands, offset }: Measured): void {
  for (let step = 0; step < levels.length; step += 1) {
    if (isSilent(step, means, bands)) continue;
    const at = step * bandCount;
    bands[at] = ((means[step] as number) - offset) ** 2;
    let power = 0;
    for (let band = at; band < at + bandCount; band += 1) power += bands[band] as number;
    levels[step] = Math.max(noLevel, 10 * Math.log10(Math.max(power, 1e-9) / 0x8000 ** 2));
  }
}

interface Measured {
  means: Float32Array;
  bands: Float32Array;
  offset: number;
}

function isSilent(step: number, means: Float32Array, bands: Float32Array): boolean {
  if (means[step] !== 0) return false;
  for (let band = 1; band < bandCount; band += 1) if (bands[step * bandCount + band] !== 0) return false;
  return true;
}

/** The median of the means that are not silent, sorted in `heard`: an asymmetric voice has no offset in its pauses. */
function constantOffset(
  steps: number,
  { means, bands }: Omit<Measured, 'offset'>,
  heard: Float32Array,
): number {
  let count = 0;
  for (let step = 0; step < steps; step += 1) {
    if (isSilent(step, means, bands)) continue;
    heard[count] = means[step] as number;
    count += 1;
  }
  return heard.subarray(0, count).sort()[Math.floor(count / 2)] ?? 0;
}

/** The first step that does not begin before this byte. */
export function stepFrom(atByte: number): number {
  return Math.ceil(atByte / stepBytes);
}

/** The level of several steps together, in dBov. */
export function meanDb(levels: Float32Array): number {
  let power = 0;
  for (const level of levels) power += 10 ** (level / 10);
  return 10 * Math.log10(Math.max(1e-10, power / Math.max(1, levels.length)));
}
