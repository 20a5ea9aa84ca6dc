import { expect, test } from 'vitest';
import { bands, measureSpectrogram } from '../../src/audio/spectrum.ts';
import { makeTone, toPcm } from './tone.ts';

/** 1 kHz in 10 windows of 32 ms, each of which begins 16 ms after the one before. */
const tone = toPcm(makeTone({ hz: 1_000, rate: 16_000, seconds: 2_816 / 16_000 }));
const silence = Buffer.alloc(10_240);

test('a tone is only in its own band, in every row', () => {
  const { rows, length } = measureSpectrogram(tone);
  expect(length).toBe(10);
  const heard = Array.from({ length }, (_, row) =>
    [...rows.subarray(row * bands, (row + 1) * bands)].flatMap((level, band) => (level > 0 ? [band] : [])),
  );
  // From 926 to 1,062 Hz.
  expect(heard).toEqual(Array(10).fill([8]));
  expect(Math.max(...rows)).toBeCloseTo(45, 3);
});

test('silence before and after it is left out, except in rows that begin or end in it', () => {
  const { rows, length } = measureSpectrogram(Buffer.concat([silence, tone, silence]));
  expect([length, rows.length]).toEqual([12, 12 * bands]);
});

test('silence has no spectrogram', () => {
  expect(measureSpectrogram(silence).length).toBe(0);
});
