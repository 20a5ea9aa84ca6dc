import { expect, test } from 'vitest';
import { alawSamples, createMonoDecoder, mulawSamples } from '../../src/audio/decode.ts';
import { encodeS16le } from '../../src/audio/encode.ts';

const format = (encoding: 'pcm' | 'float' | 'alaw' | 'mulaw', bitsPerSample: number, channels = 1) => {
  return { encoding, bitsPerSample, channels, sampleRate: 16_000 };
};

test.each([
  ['8-bit', format('pcm', 8), '00 80 ff', [-1, 0, 127 / 128]],
  ['16-bit', format('pcm', 16), '0080 0000 ff7f', [-1, 0, 32767 / 32768]],
  ['24-bit', format('pcm', 24), '000080 000000 000040 ffffff', [-1, 0, 0.5, -1 / 2 ** 23]],
  ['32-bit', format('pcm', 32), '00000080 00000040', [-1, 0.5]],
  ['32-bit float', format('float', 32), '000080bf 0000003f', [-1, 0.5]],
  ['64-bit float', format('float', 64), '000000000000f0bf 000000000000e03f', [-1, 0.5]],
] as const)('%s samples are read with sign and scale', (_name, from, hex, expected) => {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  expect([...createMonoDecoder(from)(bytes)]).toEqual(expected.map(Math.fround));
});

// Values of ITU-T G.711, tables 1a and 2a, on the scale of 16 bits.
test.each([
  ['A-law', alawSamples, { 213: 8, 85: -8, 170: 32_256, 42: -32_256, 128: 5504 }],
  ['µ-law', mulawSamples, { 255: 0, 127: 0, 128: 32_124, 0: -32_124, 254: 8 }],
] as const)('%s codes have the values of the standard', (_name, table, values) => {
  for (const [code, value] of Object.entries(values)) expect(table[Number(code)]).toBe(value);
});

test.each([1, 2, 3, 5, 6, 7, 100])('samples that are split by pieces of %i bytes are joined', (size) => {
  const bytes = Buffer.from(Array.from({ length: 600 }, (_, i) => (i * 31) % 256));
  const whole = createMonoDecoder(format('pcm', 24, 2))(bytes);
  const decode = createMonoDecoder(format('pcm', 24, 2));
  const parts: number[] = [];
  for (let i = 0; i < bytes.length; i += size) parts.push(...decode(bytes.subarray(i, i + size)));
  expect(parts).toEqual([...whole]);
});

test('samples are rounded to 16 bits, and clamped if they are louder', () => {
  const samples = Float32Array.of(0, 0.4 / 32768, 0.6 / 32768, -0.6 / 32768, 1, -1, 7, -7);
  const pcm = encodeS16le(samples);
  expect(Array.from({ length: 8 }, (_, i) => pcm.readInt16LE(i * 2))).toEqual([
    0, 0, 1, -1, 32767, -32768, 32767, -32768,
  ]);
});

test('every 16-bit sample survives decoding and encoding', () => {
  const bytes = Buffer.from(Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768).buffer);
  expect(encodeS16le(createMonoDecoder(format('pcm', 16))(bytes)).equals(bytes)).toBe(true);
});
