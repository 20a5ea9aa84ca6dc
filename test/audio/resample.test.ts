import { describe, expect, test } from 'vitest';
import { createResampler, designFilterBank } from '../../src/audio/resample.ts';
import { createRandom, fitTone, makeNoise, makeTone, middleRms, toDb } from './tone.ts';

function resample(samples: Float32Array, from: number, to: number, size = samples.length): Float32Array {
  const resampler = createResampler(from, to);
  const parts: number[] = [];
  for (let i = 0; i < samples.length; i += size) {
    for (const sample of resampler.push(samples.subarray(i, i + size))) parts.push(sample);
  }
  for (const sample of resampler.flush()) parts.push(sample);
  return Float32Array.from(parts);
}

const pairs = [
  [48_000, 16_000],
  [44_100, 16_000],
  [11_025, 16_000],
  [8_000, 16_000],
  [16_000, 48_000],
  [44_101, 16_000],
  [15_999, 16_000],
  [1_001, 16_000],
] as const;

describe.each(pairs)('from %i to %i Hz', (from, to) => {
  const lower = Math.min(from, to);

  test.each([0.1, 0.44])(
    'a tone at %d of the lower rate keeps its level and phase, with over 95 dB to its noise',
    (share) => {
      const hz = Math.round(lower * share);
      const seconds = Math.max(0.5, 1_000 / lower);
      const { amplitude, phase, snrDb } = fitTone(
        resample(makeTone({ hz, rate: from, seconds }), from, to),
        hz,
        to,
      );
      expect(Math.abs(toDb(amplitude / 0.5))).toBeLessThan(0.01);
      expect(Math.abs(phase)).toBeLessThan(0.001);
      expect(snrDb).toBeGreaterThan(95);
    },
  );

  test('the output is as long as the input', () => {
    for (const length of [0, 1, 999, 5_000]) {
      expect(resample(new Float32Array(length), from, to).length).toBe(Math.ceil((length * to) / from));
    }
  });

  test('a constant does not change', () => {
    const out = resample(new Float32Array(Math.max(1_000, from / 4)).fill(0.25), from, to);
    const middle = out.subarray(Math.floor(out.length / 4), Math.floor((out.length * 3) / 4));
    expect(middle.reduce((worst, sample) => Math.max(worst, Math.abs(sample - 0.25)), 0)).toBeLessThan(5e-7);
  });

  test('pieces of 1, 7, 160 or 4096 samples give the same, to the last bit', () => {
    // More than the window of the resampler holds.
    const noise = makeNoise(6_000, -12, createRandom(3));
    const whole = Buffer.from(resample(noise, from, to).buffer);
    const sizes = [1, 7, 160, 4096];
    expect(
      sizes.filter((size) => !Buffer.from(resample(noise, from, to, size).buffer).equals(whole)),
    ).toEqual([]);
  });
});

test.each([
  [48_000, 8_001],
  [48_000, 23_000],
  [44_100, 9_000],
  [44_101, 9_000],
  [383_999, 100_000],
])('from %i to 16,000 Hz a tone of %i Hz is removed by more than 90 dB', (rate, hz) => {
  const out = resample(makeTone({ hz, rate, seconds: 0.2 }), rate, 16_000);
  expect(toDb(middleRms(out) / (0.5 / Math.SQRT2))).toBeLessThan(-90);
});

test('an impulse stays at its place', () => {
  const samples = new Float32Array(4_800);
  samples[2_400] = 1;
  const out = resample(samples, 48_000, 16_000);
  expect(out.indexOf(Math.max(...out))).toBe(800);
});

test('the same rate changes nothing', () => {
  const samples = makeNoise(100, -12);
  expect(resample(samples, 16_000, 16_000)).toEqual(samples);
});

test.each([
  [0, 16_000],
  [999, 16_000],
  [384_001, 16_000],
  [44_100.5, 16_000],
  [Number.NaN, 16_000],
  [16_000, 0],
])('from %d to %d Hz is refused', (from, to) => {
  expect(() => createResampler(from, to)).toThrow(expect.objectContaining({ code: 'bad-input' }));
});

test('awkward ratios do not make large tables', () => {
  for (const [from, to] of [
    [44_101, 16_000],
    [383_999, 16_000],
    [383_999, 1_000],
    [1_001, 384_000],
    [15_999, 16_000],
  ] as const) {
    expect(designFilterBank(to, from).coefficients.length).toBeLessThanOrEqual(2_000_000);
  }
});
