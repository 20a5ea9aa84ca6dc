import { type Reading, rightReading, wrongReadings } from './readings.ts';

/** A wrong sample format that the samples themselves show. */
export type SampleFormat =
  | 'float32'
  | 'int32'
  | 'half-empty'
  | 'int24'
  | 'unsigned-16'
  | 'unsigned-8'
  | 'signed-8'
  | 'mulaw'
  | 'alaw'
  | 'swapped-bytes'
  | 'byte-shift';

/** Bytes per sample of each format, relative to the right one. */
export const formatSizes: Readonly<Partial<Record<string, number>>> = {
  float32: 2,
  int32: 2,
  'half-empty': 2,
  stereo: 2,
  int24: 1.5,
  'unsigned-8': 0.5,
  'signed-8': 0.5,
  mulaw: 0.5,
  alaw: 0.5,
};

/** Bytes to examine, and the minimum for a result. */
const mostBytes = 2_048;
const fewestBytes = 128;
/** Read as 16-bit samples every other format is louder than this; quieter audio has bytes that look like many things. */
const loudEnough = 1_000;
/** Sound has steps between neighbours this much smaller than its swings; read wrongly it is noise, at about 1.3. */
const smooth = 0.6;
/** A wrong reading counts only where its steps are this much smaller than those of the right one. */
const smaller = 0.6;
/**
 * Half of the bytes of 16-bit sound are as good as random: read one by one they take large steps. Every second sample
 * of signed 8-bit audio, on the other hand, makes 16-bit sound, so that both readings take small steps.
 */
const smallByteStep = 0.25;
/** Mean distances from the mean between which sound can be recognised: below is the rounding of 8 bits, above are jumps across the whole scale. */
const smallestSwing = 0.01;
const largestSwing = 0.6;

/** Samples of one reading at a time. */
const samples = new Int32Array(mostBytes);

/**
 * Which format makes sound of these bytes: `noise` where none does, `unclear` where the audio is too quiet or too short to
 * tell. `start`: where the first whole 16-bit sample begins, 0 or 1.
 */
export function recogniseFormat(message: Buffer, start: number): SampleFormat | 'pcm' | 'noise' | 'unclear' {
  const bytes = message.subarray(start, start + mostBytes);
  if (bytes.length < fewestBytes) return 'unclear';
  if (isQuiet(bytes)) return 'unclear';
  if (isFloat32(bytes)) return 'float32';
  const right = measure(bytes, rightReading);
  let found: SampleFormat | undefined;
  let smallestStep = Number.POSITIVE_INFINITY;
  for (const reading of wrongReadings) {
    const { step, swing, roughness } = measure(bytes, reading);
    // What is nearly silent in one reading may be anything in another. The low bytes of wide samples may well be empty.
    if (!isWide(reading.format) && swing < smallestSwing) return 'unclear';
    const isSmall = reading.format === 'signed-8' ? step < smallByteStep : step < smaller * right.step;
    if (roughness < smooth && isSmall && step < smallestStep) {
      found = reading.format;
      smallestStep = step;
    }
  }
  if (found === 'int32' && isHalfEmpty(bytes)) return 'half-empty';
  return found ?? (right.roughness < smooth && right.swing < largestSwing ? 'pcm' : 'noise');
}

function isWide(format: SampleFormat): boolean {
  return format === 'int24' || format === 'int32';
}

/** Whether the 16-bit samples are small, or close to each other: a constant is no sound. */
function isQuiet(bytes: Buffer): boolean {
  const count = rightReading.decode(bytes, samples);
  let lowest = samples[0] ?? 0;
  let highest = lowest;
  for (let index = 1; index < count; index += 1) {
    const sample = samples[index] ?? 0;
    if (sample < lowest) lowest = sample;
    else if (sample > highest) highest = sample;
  }
  return Math.min(Math.max(-lowest, highest), highest - lowest) < loudEnough;
}

/** Mean step between neighbours and mean distance from the mean, both over full scale, and the one over the other. */
function measure(
  bytes: Buffer,
  { fullScale, decode }: Reading<string>,
): { step: number; swing: number; roughness: number } {
  const count = decode(bytes, samples);
  let sum = 0;
  for (let index = 0; index < count; index += 1) sum += samples[index] ?? 0;
  const mean = sum / count;
  let previous = samples[0] ?? 0;
  let swings = 0;
  let steps = 0;
  for (let index = 0; index < count; index += 1) {
    const value = samples[index] ?? 0;
    swings += Math.abs(value - mean);
    steps += Math.abs(value - previous);
    previous = value;
  }
  const roughness = swings < count ? Number.POSITIVE_INFINITY : steps / swings;
  return { step: steps / count / fullScale, swing: swings / count / fullScale, roughness };
}

/** Whether nearly every four bytes are a sample of −1 to 1. Read as floats, 16-bit samples are tiny, huge or no number. */
function isFloat32(bytes: Buffer): boolean {
  const count = bytes.length >> 2;
  let sound = 0;
  let others = 0;
  for (let index = 0; index < count; index += 1) {
    const value = Math.abs(bytes.readFloatLE(4 * index));
    if (value > 1e-8 && value < 2) sound += 1;
    else if (value !== 0) others += 1;
  }
  return sound > count / 2 && others < count / 20;
}

function isHalfEmpty(bytes: Buffer): boolean {
  const isZero = (from: number) => {
    for (let at = from; at + 2 <= bytes.length; at += 4) if (bytes.readInt16LE(at) !== 0) return false;
    return true;
  };
  return isZero(0) || isZero(2);
}
