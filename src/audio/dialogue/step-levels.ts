import { bytesForMs, bytesPerSample, sampleRate } from '../../protocol/audio-format.ts';
import { dialogueRules } from './rules.ts';

export const stepSamples = (sampleRate * dialogueRules.stepMs) / 1000;
const stepBytes = bytesForMs(dialogueRules.stepMs);
/** The level of a step without audio, or of zeros. */
export const noLevel = -100;
/** An hour. What comes later is not measured. */
const mostSteps = 3_600_000 / dialogueRules.stepMs;

/**
 * The level of one side in steps, whatever the sizes of its messages. State: 3.2 kB for each second that is kept, at most
 * an hour.
 */
export interface StepLevels {
  /** Takes 16 kHz s16le mono at this byte of the time axis; what was there before is added to. Odd bytes are ignored. */
  add(atByte: number, pcm: Buffer): void;
  /** Removes everything from this step on. */
  clearFrom(step: number): void;
  /** Forgets what is before this step: it is not read any more, and what comes there is ignored. */
  forgetBefore(step: number): void;
  /** Whether audio was left out, because it came after the first hour. */
  readonly isFull: boolean;
  /** dBov of each step that is kept, up to `endMs`, without a constant offset of the side. Default: up to the last audio. */
  read(endMs?: number): Float32Array;
}

export function createStepLevels(): StepLevels {
  let sums = new Float64Array(1_024);
  let squares = new Float64Array(1_024);
  let steps = 0;
  /** The first step that is kept. */
  let kept = 0;
  let isFull = false;

  const makeRoom = (needed: number) => {
    if (needed <= sums.length) return;
    const length = Math.min(mostSteps, Math.max(needed, 2 * sums.length));
    const grow = (before: Float64Array<ArrayBuffer>) => {
      const after = new Float64Array(length);
      after.set(before);
      return after;
    };
    [sums, squares] = [grow(sums), grow(squares)];
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
        let sum = 0;
        let square = 0;
        for (; index < until; index += 1) {
          const sample = pcm.readInt16LE(index * bytesPerSample);
          sum += sample;
          square += sample * sample;
        }
        sums[step] = (sums[step] ?? 0) + sum;
        squares[step] = (squares[step] ?? 0) + square;
      }
    },
    clearFrom(step) {
      const from = Math.max(0, step - kept);
      sums.fill(0, from);
      squares.fill(0, from);
      steps = Math.min(steps, from);
    },
    forgetBefore(step) {
      const gone = step - kept;
      if (gone <= 0) return;
      for (const values of [sums, squares])
        values.copyWithin(0, gone).fill(0, Math.max(0, values.length - gone));
      steps = Math.max(0, steps - gone);
      kept = step;
    },
    read(endMs) {
      const length = endMs === undefined ? steps : Math.ceil(endMs / dialogueRules.stepMs) - kept;
      return levelsOf(sums, squares, Math.max(0, length));
    },
  };
}

function levelsOf(sums: Float64Array, squares: Float64Array, length: number): Float32Array {
  const offset = constantOffset(sums, squares);
  return Float32Array.from({ length }, (_, step) => {
    const square = squares[step] ?? 0;
    if (square === 0) return noLevel;
    const power = (square - 2 * offset * (sums[step] ?? 0)) / stepSamples + offset * offset;
    return Math.max(noLevel, 10 * Math.log10(Math.max(power, 1e-9) / 0x8000 ** 2));
  });
}

/** The median of what is not silent: a voice that swings more to one side has no offset in its pauses. */
function constantOffset(sums: Float64Array, squares: Float64Array): number {
  const means: number[] = [];
  for (const [step, square] of squares.entries()) if (square > 0) means.push((sums[step] ?? 0) / stepSamples);
  return Float64Array.from(means).sort()[Math.floor(means.length / 2)] ?? 0;
}

/** The levels of a whole track, which begins at 0 of the time axis. */
export function measureSteps(pcm: Buffer): Float32Array {
  const levels = createStepLevels();
  levels.add(0, pcm);
  return levels.read();
}

/** The first step that begins at this byte or later. */
export function stepFrom(atByte: number): number {
  return Math.ceil(atByte / stepBytes);
}
