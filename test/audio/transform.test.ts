import { expect, it, test } from 'vitest';
import { bands, createCorrelation, createTransform, measureSpectrogram } from '../../src/audio/transform.ts';
import { makeTone, toPcm } from './tone.ts';

it('correlates a piece with audio at each place, as the sum of the products says', () => {
  const { products } = createCorrelation(200, 320);
  const piece = Float32Array.from({ length: 200 }, (_, at) => Math.sin(at * at));
  const audio = Float32Array.from({ length: 320 }, (_, at) => Math.cos(at * at * 1.7));
  // What an earlier call left is not in the result of a later one.
  products(audio.slice(0, 200), piece);
  const found = products(piece, audio);
  for (let place = 0; place <= audio.length - piece.length; place += 1) {
    const expected = piece.reduce((sum, sample, at) => sum + sample * (audio[place + at] ?? 0), 0);
    expect(found[place]).toBeCloseTo(expected, 4);
  }
});

it('finds the frequencies of complex numbers', () => {
  const size = 16;
  const { re, im, placeOf, transform } = createTransform(size);
  for (let at = 0; at < size; at += 1) {
    re[placeOf[at] ?? 0] = Math.cos((2 * Math.PI * 3 * at) / size);
    im[placeOf[at] ?? 0] = Math.sin((2 * Math.PI * 3 * at) / size);
  }
  transform();
  for (let at = 0; at < size; at += 1) expect(re[at]).toBeCloseTo(at === 3 ? size : 0, 9);
});

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
