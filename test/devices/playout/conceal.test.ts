import { expect, test } from 'vitest';
import { createConcealer } from '../../../src/devices/playout/conceal.ts';

const tone = (count: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(i / 6));

test('a gap begins where the audio ended and fades out within 40 ms, and audio after it fades in', () => {
  const concealer = createConcealer();
  expect(concealer.fading).toBe(false);
  const before = concealer.played(tone(2_000));
  expect(concealer.fading).toBe(true);
  const gap = concealer.conceal(800);
  expect(gap[0]).toBeCloseTo(before.at(-1)!, 5);
  expect(Math.max(...gap.slice(500, 640).map(Math.abs))).toBeLessThan(0.25);
  expect([...gap.slice(640)].every((sample) => sample === 0)).toBe(true);
  expect(concealer.fading).toBe(false);
  const after = concealer.played(new Float32Array(200).fill(1));
  expect(after[0]).toBeLessThan(0.02);
  expect(after[80]).toBe(1);
});
