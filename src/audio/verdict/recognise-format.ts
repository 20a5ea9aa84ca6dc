import { alawSamples, mulawSamples } from '../decode.ts';

/** A wrong sample format that can be recognised from the samples. */
export type WrongFormat =
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

/** Bytes per sample of each format, relative to the right format. */
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

/** How many bytes to examine, and the minimum for a result. */
const mostBytes = 2_048;
const fewestBytes = 128;
/** Every other format is louder than this when read as 16-bit samples. The bytes of quieter audio look like many formats. */
const loudEnough = 1_000;
/** The steps between neighbours are this much smaller than the swings of sound. Misread audio is noise, at about 1.3. */
const smooth = 0.6;
/** A wrong reading counts only if its steps are this much smaller than those of the right one. */
const smaller = 0.6;
/**
 * Half of the bytes of 16-bit sound are almost random: read one by one they take large steps. In contrast, every second
 * sample of signed 8-bit audio makes 16-bit sound, so both readings take small steps.
 */
const smallByteStep = 0.25;
/** The mean distance of sound from its mean is between these. Below is 8-bit rounding; above are jumps over the whole scale. */
const smallestSwing = 0.01;
const largestSwing = 0.6;

/** The samples of one reading at a time. */
const samples = new Int32Array(mostBytes);

/**
 * Which format makes these bytes sound: `noise` if none does, `unclear` if the audio is too quiet or too short. `start`:
 * where the first whole 16-bit sample begins, 0 or 1.
 */
export function recogniseFormat(message: Buffer, start: number): WrongFormat | 'pcm' | 'noise' | 'unclear' {
  const bytes = message.subarray(start, start + mostBytes);
  if (bytes.length < fewestBytes) return 'unclear';
  if (isQuiet(bytes)) return 'unclear';
  if (isFloat32(bytes)) return 'float32';
  const right = measure(bytes, rightReading);
  let found: WrongFormat | undefined;
  let smallestStep = Number.POSITIVE_INFINITY;
  let isSilentIfWide = false;
  for (const reading of wrongReadings) {
    const { step, swing, roughness } = measure(bytes, reading);
    // Audio that is nearly silent in one reading may be anything in another. But the low bytes of wide samples may be empty.
    if (swing < smallestSwing) {
      if (!isWide(reading.format)) return 'unclear';
      isSilentIfWide = true;
    }
    const isSmall = reading.format === 'signed-8' ? step < smallByteStep : step < smaller * right.step;
    if (roughness < smooth && isSmall && step < smallestStep) {
      found = reading.format;
      smallestStep = step;
    }
  }
  if (found !== undefined && isSilentIfWide && !isWide(found)) return 'unclear';
  if (found === 'int32' && isHalfEmpty(bytes)) return 'half-empty';
  return found ?? (right.roughness < smooth && right.swing < largestSwing ? 'pcm' : 'noise');
}

function isWide(format: WrongFormat): boolean {
  return format === 'int24' || format === 'int32';
}

/** Whether the 16-bit samples are small, or close to each other: a constant is not sound. */
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

/** The mean step between neighbours and the mean distance from the mean, both relative to full scale, and their ratio. */
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

/** Whether almost every four bytes are a sample of −1 to 1. As floats, 16-bit samples are tiny, huge or not a number. */
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

/** A way to read bytes as samples. `decode` writes the samples to `into` and returns how many there are. */
interface Reading<Format extends string> {
  format: Format;
  fullScale: number;
  decode: (bytes: Uint8Array, into: Int32Array) => number;
}

const fullScale16 = 0x8000;
const fullScale8 = 0x80;
const unsignedBytes = Int16Array.from({ length: 256 }, (_, code) => code);
const signedBytes = Int16Array.from({ length: 256 }, (_, code) => (code << 24) >> 24);

/** The right reading: signed, 16 bits, low byte first. */
export const rightReading: Reading<'pcm'> = {
  format: 'pcm',
  fullScale: fullScale16,
  decode: (bytes, into) => decodePairs(bytes, into, { low: 0, high: 1, every: 2 }),
};

/** All other readings as whole numbers. Formats of 3 and 4 bytes are read from each place where 16 bits may begin. */
export const wrongReadings = [
  pairs('swapped-bytes', { low: 1, high: 0, every: 2 }),
  pairs('byte-shift', { low: 1, high: 2, every: 2 }),
  { format: 'unsigned-16', fullScale: fullScale16, decode: decodeUnsigned },
  bytewise('unsigned-8', fullScale8, unsignedBytes),
  bytewise('signed-8', fullScale8, signedBytes),
  bytewise('mulaw', fullScale16, mulawSamples),
  bytewise('alaw', fullScale16, alawSamples),
  pairs('int24', { low: 0, high: 1, every: 3 }),
  pairs('int24', { low: 1, high: 2, every: 3 }),
  pairs('int24', { low: 2, high: 3, every: 3 }),
  pairs('int32', { low: 0, high: 1, every: 4 }),
  pairs('int32', { low: 2, high: 3, every: 4 }),
] as const satisfies readonly Reading<string>[];

/** Where the two bytes of the first sample are, and the distance to the next sample, in bytes. */
interface Pair {
  low: number;
  high: number;
  every: number;
}

function pairs<Format extends string>(format: Format, pair: Pair): Reading<Format> {
  return { format, fullScale: fullScale16, decode: (bytes, into) => decodePairs(bytes, into, pair) };
}

function bytewise<Format extends string>(
  format: Format,
  fullScale: number,
  samples: Int16Array,
): Reading<Format> {
  return {
    format,
    fullScale,
    decode: (bytes, into) => {
      for (let at = 0; at < bytes.length; at += 1) into[at] = samples[bytes[at] ?? 0] ?? 0;
      return bytes.length;
    },
  };
}

function decodePairs(bytes: Uint8Array, into: Int32Array, { low, high, every }: Pair): number {
  const last = bytes.length - 1 - Math.max(low, high);
  let count = 0;
  for (let at = 0; at <= last; at += every) {
    into[count] = (((bytes[at + high] ?? 0) << 24) >> 16) | (bytes[at + low] ?? 0);
    count += 1;
  }
  return count;
}

function decodeUnsigned(bytes: Uint8Array, into: Int32Array): number {
  const count = bytes.length >> 1;
  for (let index = 0; index < count; index += 1) {
    into[index] = ((bytes[2 * index + 1] ?? 0) << 8) | (bytes[2 * index] ?? 0);
  }
  return count;
}
