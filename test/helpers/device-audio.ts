import { readFileSync } from 'node:fs';
import { alawSamples, mulawSamples } from '../../src/audio/decode.ts';
import { createResampler } from '../../src/audio/resample.ts';

/** Four seconds of speech: s16le, mono, 16 kHz. */
export const speechPcm = readFileSync(new URL('../../fixtures/question.wav', import.meta.url)).subarray(
  44,
  44 + 124_000,
);
export const wavFile = readFileSync(new URL('../../fixtures/hello.wav', import.meta.url));

/** Speech as a side sends it that has recorded it at another rate: raw samples, which are read at 16 kHz. */
export function speechAt(rate: number, fixture = 'question.wav'): Buffer {
  const pcm = readFileSync(new URL(`../../fixtures/${fixture}`, import.meta.url)).subarray(44);
  if (rate === 16_000) return pcm;
  const resampler = createResampler(16_000, rate);
  const own = Float32Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(2 * at));
  const other = [...resampler.push(own), ...resampler.flush()];
  const bytes = Buffer.alloc(2 * other.length);
  for (const [at, sample] of other.entries())
    bytes.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, Math.round(sample))), 2 * at);
  return bytes;
}

const samples = Array.from({ length: speechPcm.length / 2 }, (_, at) => speechPcm.readInt16LE(2 * at));

/** The speech in another form: `bytes` of each sample, as `write` puts them. */
function encode(bytes: number, write: (into: Buffer, sample: number, at: number) => unknown): Buffer {
  const out = Buffer.alloc(bytes * samples.length);
  for (const [at, sample] of samples.entries()) write(out, sample, bytes * at);
  return out;
}

/** The code whose sample is nearest. */
const nearest = (table: Int16Array) => {
  const codes = new Map<number, number>();
  return (sample: number) => {
    let best = codes.get(sample);
    if (best === undefined) {
      best = 0;
      table.forEach((value, code) => {
        if (Math.abs(value - sample) < Math.abs((table[best as number] ?? 0) - sample)) best = code;
      });
      codes.set(sample, best);
    }
    return best;
  };
};

export const encodings = {
  float32: () => encode(4, (into, sample, at) => into.writeFloatLE(sample / 0x8000, at)),
  int32: () =>
    encode(4, (into, sample, at) => into.writeInt32LE(sample * 0x10000 + ((sample * 7_919) & 0xff00), at)),
  halfEmpty: () => encode(4, (into, sample, at) => into.writeInt16LE(sample, at)),
  int24: () => encode(3, (into, sample, at) => into.writeIntLE(sample * 0x100 + (sample & 0x7f), at, 3)),
  /** As a 16-bit microphone on a 24-bit bus gives it. */
  paddedTo24: () => encode(3, (into, sample, at) => into.writeIntLE(sample * 0x100, at, 3)),
  unsigned16: () => encode(2, (into, sample, at) => into.writeUInt16LE(sample + 0x8000, at)),
  unsigned8: () => encode(1, (into, sample, at) => into.writeUInt8((sample >> 8) + 0x80, at)),
  signed8: () => encode(1, (into, sample, at) => into.writeInt8(sample >> 8, at)),
  mulaw: () => {
    const code = nearest(mulawSamples);
    return encode(1, (into, sample, at) => into.writeUInt8(code(sample), at));
  },
  alaw: () => {
    const code = nearest(alawSamples);
    return encode(1, (into, sample, at) => into.writeUInt8(code(sample), at));
  },
  swapped: () => encode(2, (into, sample, at) => into.writeInt16BE(sample, at)),
  /** With a header of RTP before each 20 ms. */
  framed: () =>
    Buffer.concat(
      Array.from({ length: 150 }, (_, index) => {
        const header = Buffer.from([0x80, 0x60, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
        header.writeUInt16BE(index, 2);
        header.writeUInt32BE(320 * index, 4);
        return Buffer.concat([header, speechPcm.subarray(640 * index, 640 * (index + 1))]);
      }),
    ),
  shifted: () => Buffer.concat([Buffer.from([7]), speechPcm]),
  stereo: () => encode(4, (into, sample, at) => into.writeInt16LE(sample, into.writeInt16LE(sample, at))),
  clipped: () =>
    encode(2, (into, sample, at) => into.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, sample * 12)), at)),
  offset: () => encode(2, (into, sample, at) => into.writeInt16LE((sample >> 2) + 3_000, at)),
  quiet: () => encode(2, (into, sample, at) => into.writeInt16LE(Math.round(sample / 100), at)),
};
