import { createBlockJoiner } from './blocks.ts';
import type { SampleFormat } from './source.ts';

type ReadSample = (view: DataView, offset: number) => number;

const readers: Record<string, ReadSample> = {
  pcm8: (view, offset) => (view.getUint8(offset) - 128) / 0x80,
  pcm16: (view, offset) => view.getInt16(offset, true) / 0x8000,
  pcm24: (view, offset) => (view.getUint16(offset, true) | (view.getInt8(offset + 2) << 16)) / 0x800000,
  pcm32: (view, offset) => view.getInt32(offset, true) / 0x80000000,
  float32: (view, offset) => tame(view.getFloat32(offset, true)),
  float64: (view, offset) => tame(view.getFloat64(offset, true)),
  alaw8: (view, offset) => (alawSamples[view.getUint8(offset)] ?? 0) / 0x8000,
  mulaw8: (view, offset) => (mulawSamples[view.getUint8(offset)] ?? 0) / 0x8000,
};

/** Without this, one NaN or infinity would spread over the whole length of the resampler's filter. */
function tame(sample: number): number {
  if (Number.isNaN(sample)) return 0;
  return Math.max(-16, Math.min(16, sample));
}

/**
 * A function from encoded bytes, in chunks of any size, to mono samples of about −1 to 1: the mean of the channels, or only
 * channel `only`, from 0. A block that ends in the next chunk is carried over; an incomplete last one is dropped. A sample
 * that is not a number counts as silence.
 */
export function createMonoDecoder(format: SampleFormat, only?: number): (bytes: Buffer) => Float32Array {
  const { channels, bitsPerSample } = format;
  const readSample = readers[`${format.encoding}${bitsPerSample}`];
  if (!readSample) throw new RangeError(`no decoder for ${bitsPerSample}-bit ${format.encoding}`);
  const sampleBytes = bitsPerSample / 8;
  const blockBytes = sampleBytes * channels;
  const blocks = createBlockJoiner(blockBytes);

  return (chunk) => {
    const bytes = blocks.push(chunk);
    const count = bytes.length / blockBytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const samples = new Float32Array(count);
    for (let index = 0, offset = 0; index < count; index += 1) {
      let sum = 0;
      for (let channel = 0; channel < channels; channel += 1, offset += sampleBytes) {
        if (only === undefined || only === channel) sum += readSample(view, offset);
      }
      samples[index] = only === undefined ? sum / channels : sum;
    }
    return samples;
  };
}

// ITU-T G.711: from a byte of A-law or µ-law to a 16-bit sample.

function expandAlaw(code: number): number {
  const value = code ^ 0x55;
  const exponent = (value >> 4) & 7;
  const mantissa = ((value & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return value & 0x80 ? magnitude : -magnitude;
}

function expandMulaw(code: number): number {
  const value = ~code & 0xff;
  const magnitude = ((((value & 0x0f) << 3) + 0x84) << ((value >> 4) & 7)) - 0x84;
  return value & 0x80 ? -magnitude : magnitude;
}

/** Samples by A-law code. */
export const alawSamples = Int16Array.from({ length: 256 }, (_, code) => expandAlaw(code));
/** Samples by µ-law code. */
export const mulawSamples = Int16Array.from({ length: 256 }, (_, code) => expandMulaw(code));
