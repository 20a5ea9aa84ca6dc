import { expect, test } from 'vitest';
import { createLevelMeter, measureLevel } from '../../src/audio/level.ts';
import { makeNoise, makeTone, toPcm } from './tone.ts';

const tone = (amplitude: number) => toPcm(makeTone({ hz: 1_000, rate: 16_000, seconds: 0.1, amplitude }));

test.each([
  ['a sine at half scale', tone(0.5), -9.03, -6.02],
  ['a sine at a thousandth', tone(0.001), -63, -60],
  ['the loudest square', toPcm([-1, -1, -1]), 0, 0],
  ['noise at −40 dBFS', toPcm(makeNoise(16_000, -40)), -40, -35.2],
])('%s has its level', (_name, pcm, rmsDbfs, peakDbfs) => {
  const level = measureLevel(pcm);
  expect(level.rmsDbfs).toBeCloseTo(rmsDbfs, 0);
  expect(level.peakDbfs).toBeCloseTo(peakDbfs, 0);
});

test.each([
  ['silence', Buffer.alloc(640)],
  ['no audio', Buffer.alloc(0)],
  ['half a sample', Buffer.alloc(1, 255)],
])('%s is at −100 dBFS, which JSON can represent', (_name, pcm) => {
  expect(measureLevel(pcm)).toEqual({ rmsDbfs: -100, peakDbfs: -100, clipped: false });
});

test('an odd last byte is ignored', () => {
  const pcm = tone(0.5);
  expect(measureLevel(Buffer.concat([pcm, Buffer.from([127])]))).toEqual(measureLevel(pcm));
});

test.each([
  [[0.999], false],
  [[0, 1], true],
  [[-1, 0], true],
])('samples of %j are clipped: %s', (samples, clipped) => {
  expect(measureLevel(toPcm(samples)).clipped).toBe(clipped);
});

test('the level of messages that are split within samples is measured in whole samples', () => {
  const pcm = toPcm(Array.from({ length: 640 }, (_, at) => (at % 2 === 0 ? 0.01 : -0.01)));
  const measure = createLevelMeter();
  const levels = [0, 321, 642, 963].map((from) => measure(pcm.subarray(from, from + 321)));
  for (const { rmsDbfs, clipped } of levels) {
    expect(rmsDbfs).toBeCloseTo(measureLevel(pcm).rmsDbfs, 5);
    expect(clipped).toBe(false);
  }
});
