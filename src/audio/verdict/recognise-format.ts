import { alawSamples, mulawSamples } from '../g711.ts';

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
/** Mean distances from the mean between which sound can be told: below is the rounding of 8 bits, above are jumps across the whole scale. */
const smallestSwing = 0.01;
const largestSwing = 0.6;

const fullScale16 = 0x8000;
const fullScale8 = 0x80;

type Read = (index: number) => number;
type Reading = [format: SampleFormat, count: number, fullScale: number, read: Read];

/**
 * Which format makes sound of these bytes: undefined where none does, or where nothing can be told. `start`: where the
 * first whole 16-bit sample begins, 0 or 1.
 */
export function recogniseFormat(message: Buffer, start: number): SampleFormat | 'pcm' | undefined {
  const bytes = message.subarray(start, start + mostBytes);
  if (bytes.length < fewestBytes) return undefined;
  if (peakOf(bytes) < loudEnough) return undefined;
  if (isFloat32(bytes)) return 'float32';
  const right = measure(bytes.length >> 1, fullScale16, (index) => bytes.readInt16LE(2 * index));
  const measured = readings(bytes).map(([format, count, fullScale, read]) => ({
    format,
    ...measure(count, fullScale, read),
  }));
  // What is nearly silent in one reading may be anything in another. One half of 32-bit samples may well be empty.
  if (measured.some(({ format, swing }) => format !== 'int32' && swing < smallestSwing)) return undefined;
  const found = measured
    .filter(({ format, roughness, step }) => {
      const isSmall = format === 'signed-8' ? step < smallByteStep : step < smaller * right.step;
      return roughness < smooth && isSmall;
    })
    .toSorted((one, other) => one.step - other.step)[0]?.format;
  if (found === 'int32' && isHalfEmpty(bytes)) return 'half-empty';
  return found ?? (right.roughness < smooth && right.swing < largestSwing ? 'pcm' : undefined);
}

function peakOf(bytes: Buffer): number {
  let peak = 0;
  for (let at = 0; at + 2 <= bytes.length; at += 2) peak = Math.max(peak, Math.abs(bytes.readInt16LE(at)));
  return peak;
}

function readings(bytes: Buffer): Reading[] {
  const { length } = bytes;
  const pairs = (format: SampleFormat, from: number, every: number): Reading => [
    format,
    Math.floor((length - from - 2) / every),
    fullScale16,
    (index) => bytes.readInt16LE(from + every * index),
  ];
  const byteAt = (index: number) => bytes[index] ?? 0;
  const ofBytes = (format: SampleFormat, fullScale: number, read: Read): Reading => [
    format,
    length,
    fullScale,
    read,
  ];
  return [
    ['swapped-bytes', length >> 1, fullScale16, (index) => bytes.readInt16BE(2 * index)],
    pairs('byte-shift', 1, 2),
    ['unsigned-16', length >> 1, fullScale16, (index) => bytes.readUInt16LE(2 * index)],
    ofBytes('unsigned-8', fullScale8, byteAt),
    ofBytes('signed-8', fullScale8, (index) => bytes.readInt8(index)),
    ofBytes('mulaw', fullScale16, (index) => mulawSamples[byteAt(index)] ?? 0),
    ofBytes('alaw', fullScale16, (index) => alawSamples[byteAt(index)] ?? 0),
    ...[0, 1, 2].map((phase) => pairs('int24', phase, 3)),
    ...[0, 2].map((phase) => pairs('int32', phase, 4)),
  ];
}

/** Mean step between neighbours and mean distance from the mean, both over full scale, and the one over the other. */
function measure(
  count: number,
  fullScale: number,
  read: Read,
): { step: number; swing: number; roughness: number } {
  let sum = 0;
  for (let index = 0; index < count; index += 1) sum += read(index);
  const mean = sum / count;
  let swings = 0;
  let steps = 0;
  for (let index = 0; index < count; index += 1) {
    const value = read(index);
    swings += Math.abs(value - mean);
    if (index > 0) steps += Math.abs(value - read(index - 1));
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
