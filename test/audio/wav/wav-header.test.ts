import { expect, test } from 'vitest';
import { makeWavHeader } from '../../../src/audio/wav/wav-header.ts';

const mono = { encoding: 'pcm', sampleRate: 16_000, channels: 1, bitsPerSample: 16 } as const;

test('the header has 44 bytes with the sizes of file and audio', () => {
  expect(makeWavHeader(mono, 640).toString('hex')).toBe(
    [
      // RIFF, 676 bytes follow.
      '52494646a402000057415645',
      // fmt, 16 bytes: PCM, mono, 16,000 Hz, 32,000 bytes a second, 2 a sample, 16 bits.
      '666d74201000000001000100803e0000007d000002001000',
      // data, 640 bytes.
      '6461746180020000',
    ].join(''),
  );
});

test.each([
  ['pcm', 1],
  ['float', 3],
  ['alaw', 6],
  ['mulaw', 7],
] as const)('%s has the tag %i', (encoding, tag) => {
  expect(makeWavHeader({ ...mono, encoding }, 0).readUInt16LE(20)).toBe(tag);
});

test.each([
  [0xffffffff - 36, 0xffffffff, 0xffffffff - 36],
  [0xffffffff, 0xffffffff, 0xffffffff],
  [2 ** 33, 0xffffffff, 0xffffffff],
  [Number.POSITIVE_INFINITY, 0xffffffff, 0xffffffff],
])('%d bytes of audio have the sizes %d and %d', (bytes, riff, data) => {
  const header = makeWavHeader(mono, bytes);
  expect([header.readUInt32LE(4), header.readUInt32LE(40)]).toEqual([riff, data]);
});

test('a byte rate that does not fit becomes the largest one that does', () => {
  const header = makeWavHeader({ ...mono, sampleRate: 384_000, channels: 8_000 }, 0);
  expect(header.readUInt32LE(28)).toBe(0xffffffff);
});
