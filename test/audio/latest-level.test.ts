import { expect, test } from 'vitest';
import { LatestLevel } from '../../src/audio/latest-level.ts';

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
  level.note(loud);
  expect(level.read()).toBe(-6);
});

test('follows a voice within 80 ms', () => {
  const { clock, level } = createLevel();
  for (const pcm of [loud, quiet, quiet, quiet, quiet]) {
    level.note(pcm);
    clock.time += 20;
  }
  expect(level.read()).toBe(-40);
});

test('follows a voice with a second of audio per message', () => {
  const { level } = createLevel();
  for (const peak of [0x4000, 328, 0x4000]) {
    level.note(square(peak, 32_000));
    expect(level.read()).toBe(peak === 328 ? -40 : -6);
  }
});

test('is silence again when the voice is gone', () => {
  const { clock, level } = createLevel();
  level.note(loud);
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
    level.note(pcm.subarray(at, at + bytes));
    at += bytes;
    expect(level.read()).toBeCloseTo(-6, 1);
  }
});
