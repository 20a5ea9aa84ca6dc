import { expect, test } from 'vitest';
import { rightReading, wrongReadings } from '../../../src/audio/verdict/recognise-format.ts';

/** The samples that a reading finds in these bytes. */
function read({ decode }: Pick<typeof rightReading, 'decode'>, bytes: readonly number[]): number[] {
  const into = new Int32Array(64);
  return [...into.subarray(0, decode(Uint8Array.from(bytes), into))];
}

const bytes = [0x01, 0x02, 0x83, 0x04, 0x05, 0xf6, 0x07, 0x08, 0x09];

test('samples are signed, with 16 bits, low byte first; half a sample at the end is ignored', () => {
  expect(read(rightReading, bytes)).toEqual([0x0201, 0x0483, 0xf605 - 0x10000, 0x0807]);
  expect(read(rightReading, bytes.slice(0, 8))).toHaveLength(4);
  expect(read(rightReading, [1])).toEqual([]);
});

test.each([
  ['swapped-bytes', [[0x0102, 0x8304 - 0x10000, 0x05f6, 0x0708]]],
  ['byte-shift', [[0x8302 - 0x10000, 0x0504, 0x07f6, 0x0908]]],
  ['unsigned-16', [[0x0201, 0x0483, 0xf605, 0x0807]]],
  ['unsigned-8', [bytes]],
  ['signed-8', [[1, 2, 0x83 - 0x100, 4, 5, 0xf6 - 0x100, 7, 8, 9]]],
  [
    'int24',
    [
      [0x0201, 0x0504, 0x0807],
      [0x8302 - 0x10000, 0xf605 - 0x10000, 0x0908],
      [0x0483, 0x07f6],
    ],
  ],
  [
    'int32',
    [
      [0x0201, 0xf605 - 0x10000],
      [0x0483, 0x0807],
    ],
  ],
])('%s is read from each place where a sample may begin', (format, samples) => {
  const readings = wrongReadings.filter((one) => one.format === format);
  expect(readings.map((one) => read(one, bytes))).toEqual(samples);
});

test('G.711 is read by its tables', () => {
  const law = (format: string) => wrongReadings.filter((one) => one.format === format);
  expect(law('mulaw').map((one) => read(one, [0x00, 0xff, 0x80]))).toEqual([[-32_124, 0, 32_124]]);
  expect(law('alaw').map((one) => read(one, [0x55, 0xd5, 0x2a]))).toEqual([[-8, 8, -32_256]]);
});
