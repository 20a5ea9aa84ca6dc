import { describe, expect, test } from 'vitest';
import { createStretcher } from '../../src/audio/stretch.ts';

/** Plays a tone through a stretcher in pieces, at speeds that change. */
function play(hz: number, speeds: readonly number[], count = 320): Float32Array {
  const stretcher = createStretcher();
  const output = new Float32Array(speeds.length * count);
  let at = 0;
  for (const [index, speed] of speeds.entries()) {
    const samples = Float32Array.from({ length: stretcher.needed(count, speed) }, (_, i) =>
      Math.sin((2 * Math.PI * hz * (at + i)) / 16_000),
    );
    at += samples.length;
    output.set(stretcher.stretch(samples, count, speed), index * count);
  }
  return output;
}

/** Signal to noise of a tone of this frequency, dB. */
function purity(samples: Float32Array, hz: number): number {
  let [cos, sin, all] = [0, 0, 0];
  for (const [i, sample] of samples.entries()) {
    cos += sample * Math.cos((2 * Math.PI * hz * i) / 16_000);
    sin += sample * Math.sin((2 * Math.PI * hz * i) / 16_000);
    all += sample * sample;
  }
  const tone = (2 * (cos * cos + sin * sin)) / samples.length;
  return 10 * Math.log10(tone / Math.max(1e-12, all - tone));
}

describe('the stretcher', () => {
  test.each([
    [1, 1_000],
    [1.001, 1_000],
    [0.995, 1_000],
    [1.005, 3_000],
  ])('at speed %d turns a pure tone of %d Hz into a pure tone', (speed, hz) => {
    const samples = play(hz, Array(100).fill(speed)).subarray(320);
    expect(purity(samples.subarray(0, 16_000), hz * speed)).toBeGreaterThan(45);
  });

  test('changes its speed without a step', () => {
    const samples = play(400, [1, 1.005, 0.995, 1, 1.003, 0.999, 1, 1.005]).subarray(320);
    const steps = samples.slice(1).map((sample, i) => Math.abs(sample - samples[i]!));
    // The steepest of a tone of 402 Hz.
    expect(Math.max(...steps)).toBeLessThanOrEqual(2 * Math.PI * (402 / 16_000) * 1.01);
  });

  test('takes as many samples as it plays, over time', () => {
    const stretcher = createStretcher();
    let taken = 0;
    for (let i = 0; i < 2_000; i += 1) {
      const needed = stretcher.needed(320, 1.001);
      stretcher.stretch(new Float32Array(needed), 320, 1.001);
      taken += needed;
    }
    expect(Math.abs(taken - 640_000 * 1.001)).toBeLessThan(2);
  });
});
