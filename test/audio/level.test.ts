import { expect, test } from 'vitest';
import { createLevelMeter, LatestLevel, measureLevel } from '../../src/audio/level.ts';
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

/** A square wave: its level is that of its peak. */
const square = (peak: number, bytes = 640) => {
  const pcm = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 2) pcm.writeInt16LE(at % 4 === 0 ? peak : -peak, at);
  return pcm;
};
const loud = square(0x4000);
const quiet = square(328);

function createLevel() {
  const clock = { time: 5_000, now: () => clock.time };
  return { clock, level: new LatestLevel(clock) };
}

test('is silence if nothing was heard yet', () => {
  expect(createLevel().level.read()).toBe(-100);
});

test('is the level of the first message at once', () => {
  const { level } = createLevel();
  level.measure(loud);
  expect(level.read()).toBe(-6);
});

test('follows a voice within 80 ms', () => {
  const { clock, level } = createLevel();
  for (const pcm of [loud, quiet, quiet, quiet, quiet]) {
    level.measure(pcm);
    clock.time += 20;
  }
  expect(level.read()).toBe(-40);
});

test('follows a voice with a second of audio per message', () => {
  const { level } = createLevel();
  for (const peak of [0x4000, 328, 0x4000]) {
    level.measure(square(peak, 32_000));
    expect(level.read()).toBe(peak === 328 ? -40 : -6);
  }
});

test('is silence again when the voice is gone', () => {
  const { clock, level } = createLevel();
  level.measure(loud);
  clock.time += 250;
  expect(level.read()).toBe(-6);
  clock.time += 1;
  expect(level.read()).toBe(-100);
});

test('is measured in whole samples, wherever messages are split', () => {
  const { level } = createLevel();
  const pcm = square(0x4000, 96_000);
  let at = 0;
  for (const bytes of [321, 9_001, 3_001, 77, 20_001, 3_000]) {
    level.measure(pcm.subarray(at, at + bytes));
    at += bytes;
    expect(level.read()).toBeCloseTo(-6, 1);
  }
});
