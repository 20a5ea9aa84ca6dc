import { describe, expect, test } from 'vitest';
import { bandCount, createStepLevels } from '../../../src/audio/dialogue/step-levels.ts';
import { bytesForMs } from '../../../src/protocol/audio-format.ts';
import { measureSteps } from '../../helpers/pcm.ts';

const tone = (hz: number, lengthMs: number, offset = 0) => {
  const pcm = Buffer.alloc(bytesForMs(lengthMs));
  for (let at = 0; at < pcm.length / 2; at += 1)
    pcm.writeInt16LE(offset + Math.round(8_000 * Math.sin((2 * Math.PI * hz * at) / 16_000)), at * 2);
  return pcm;
};
const strongest = ({ bands }: { bands: Float32Array }) => {
  const sums = Array.from({ length: bandCount }, (_, band) =>
    bands.reduce((sum, power, at) => (at % bandCount === band ? sum + power : sum), 0),
  );
  return sums.indexOf(Math.max(...sums));
};

describe('levels in steps', () => {
  test.each([
    [30, 0],
    [300, 1],
    [700, 2],
    [1_500, 3],
    [3_000, 4],
    [6_500, 5],
  ])('have a tone of %i Hz in band %i', (hz, band) => {
    expect(strongest(measureSteps(tone(hz, 500)))).toBe(band);
  });

  test('are the power of all bands, without a constant offset', () => {
    const { levels, bands } = measureSteps(tone(700, 500, 500));
    const power = bands.subarray(0, bandCount).reduce((sum, one) => sum + one, 0);
    expect(levels[0]).toBeCloseTo(10 * Math.log10(power / 0x8000 ** 2), 3);
    expect(levels[50]).toBeCloseTo(20 * Math.log10(8_000 / 0x8000) - 3, 0);
  });

  test('are the same however the audio is split, even if they are read in between', () => {
    const pcm = tone(700, 500, 30);
    const parted = createStepLevels();
    for (let at = 0; at < pcm.length; at += 46) {
      parted.add(at, pcm.subarray(at, at + 46));
      parted.read();
    }
    expect(parted.read()).toEqual(measureSteps(pcm));
  });

  test('forget a step that is incomplete, and continue after it', () => {
    const pcm = tone(700, 100);
    const steps = createStepLevels();
    steps.add(0, pcm.subarray(0, bytesForMs(52)));
    steps.forgetBefore(8);
    steps.add(bytesForMs(52), pcm.subarray(bytesForMs(52)));
    const whole = measureSteps(pcm);
    expect(steps.read().levels).toEqual(whole.levels.slice(8));
    steps.clearFrom(14);
    expect(steps.read().levels).toEqual(whole.levels.slice(8, 14));
  });
});
