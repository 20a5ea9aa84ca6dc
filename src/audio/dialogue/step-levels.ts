import { bytesForMs, bytesPerSample, sampleRate } from '../../protocol/audio-format.ts';
import { dialogueRules } from './rules.ts';
import { bandCount, splitIntoBands } from './step-bands.ts';

export const stepSamples = (sampleRate * dialogueRules.stepMs) / 1000;
const stepBytes = bytesForMs(dialogueRules.stepMs);
/** The level of a step without audio, or of zeros. */
export const noLevel = -100;
/** An hour. What comes later is not measured. */
const mostSteps = 3_600_000 / dialogueRules.stepMs;

/** A side in steps. */
export interface SideLevels {
  /** dBov of each step, without a constant offset of the side. */
  levels: Float32Array;
  /** The power of each band (`bandValues`), step after step: squares of samples, on average. */
  bands: Float32Array;
}

/**
 * The level of one side in steps, whatever the sizes of its messages. State: 4.8 kB for each second that is kept, at most
 * an hour.
 */
export interface StepLevels {
  /** Takes 16 kHz s16le mono at this byte of the time axis, in its order. Odd bytes are ignored. */
  add(atByte: number, pcm: Buffer): void;
  /** Removes everything from this step on. */
  clearFrom(step: number): void;
  /** Forgets what is before this step: it is not read any more, and what comes there is ignored. */
  forgetBefore(step: number): void;
  /** Whether audio was left out, because it came after the first hour. */
  readonly isFull: boolean;
  /** Each step that is kept, up to `endMs`. Default: up to the last audio. */
  read(endMs?: number): SideLevels;
}

export function createStepLevels(): StepLevels {
  /** Of each step its mean, and what the bands have beside it. */
  let values = new Float32Array(1_024 * bandCount);
  let steps = 0;
  /** The first step that is kept. */
  let kept = 0;
  let isFull = false;
  /** The newest step: more of its audio may come. */
  let newest = -1;
  const samples = new Float64Array(stepSamples);
  const halved = new Float64Array(stepSamples);

  const writeNewest = () => {
    if (newest < 0) return;
    halved.set(samples);
    splitIntoBands(halved, values.subarray(newest * bandCount, (newest + 1) * bandCount));
  };
  const makeRoom = (needed: number) => {
    if (needed * bandCount <= values.length) return;
    const before = values;
    values = new Float32Array(
      bandCount * Math.min(mostSteps, Math.max(needed, (2 * before.length) / bandCount)),
    );
    values.set(before);
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
        for (; index < until; index += 1) samples[from + index] = pcm.readInt16LE(index * bytesPerSample);
      }
    },
    clearFrom(step) {
      const from = Math.max(0, step - kept);
      writeNewest();
      newest = -1;
      values.fill(0, from * bandCount);
      steps = Math.min(steps, from);
    },
    forgetBefore(step) {
      const gone = step - kept;
      if (gone <= 0) return;
      writeNewest();
      newest -= gone;
      values.copyWithin(0, gone * bandCount).fill(0, Math.max(0, values.length - gone * bandCount));
      steps = Math.max(0, steps - gone);
      kept = step;
    },
    read(endMs) {
      writeNewest();
      const length = endMs === undefined ? steps : Math.ceil(endMs / dialogueRules.stepMs) - kept;
      return sideLevels(values, Math.max(0, length));
    },
  };
}

function sideLevels(values: Float32Array, length: number): SideLevels {
  const offset = constantOffset(values);
  const levels = new Float32Array(length).fill(noLevel);
  const bands = new Float32Array(length * bandCount);
  bands.set(values.subarray(0, bands.length));
  for (let step = 0; step < length; step += 1) {
    const at = step * bandCount;
    if (isSilent(values, at)) continue;
    bands[at] = ((bands[at] ?? 0) - offset) ** 2;
    let power = 0;
    for (let band = at; band < at + bandCount; band += 1) power += bands[band] ?? 0;
    levels[step] = Math.max(noLevel, 10 * Math.log10(Math.max(power, 1e-9) / 0x8000 ** 2));
  }
  return { levels, bands };
}

function isSilent(values: Float32Array, at: number): boolean {
  for (let band = at; band < at + bandCount; band += 1)
    if (values[band] !== 0 && values[band] !== undefined) return false;
  return true;
}

/** The median of what is not silent: a voice that swings more to one side has no offset in its pauses. */
function constantOffset(values: Float32Array): number {
  const means: number[] = [];
  for (let at = 0; at < values.length; at += bandCount)
    if (!isSilent(values, at)) means.push(values[at] ?? 0);
  return Float64Array.from(means).sort()[Math.floor(means.length / 2)] ?? 0;
}

/** The levels of a whole track, which begins at 0 of the time axis. */
export function measureSteps(pcm: Buffer): SideLevels {
  const levels = createStepLevels();
  levels.add(0, pcm);
  return levels.read();
}

/** The first step that begins at this byte or later. */
export function stepFrom(atByte: number): number {
  return Math.ceil(atByte / stepBytes);
}

/** The level of several steps together, in dBov. */
export function meanDb(levels: Float32Array): number {
  let power = 0;
  for (const level of levels) power += 10 ** (level / 10);
  return 10 * Math.log10(Math.max(1e-10, power / Math.max(1, levels.length)));
}
