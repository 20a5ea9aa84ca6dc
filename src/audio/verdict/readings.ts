import { alawSamples, mulawSamples } from '../g711.ts';

/** One way to read bytes as samples. `decode` writes the samples to `into` and returns how many. */
export interface Reading<Format extends string> {
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

/** All others that whole numbers allow. Formats of 3 and 4 bytes are read from each place where 16 bits may begin. */
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

/** Where the two bytes of the first sample are, and how far it is to the next. Bytes. */
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
