import { expect, test } from 'vitest';
import { HeardAt } from '../../../src/audio/verdict/heard-at.ts';

const frameBytes = 640;

test('audio in real time is heard when it arrives', () => {
  const heard = new HeardAt();
  for (let frame = 0; frame < 100; frame += 1)
    heard.arrived(frame * frameBytes, frameBytes, 500 + frame * 20);
  expect([0, 400, 1_990].map((at) => heard.timeOf(at))).toEqual([500, 900, 2_490]);
});

test('audio that comes at once is heard one after the other', () => {
  const heard = new HeardAt();
  for (let frame = 0; frame < 100; frame += 1) heard.arrived(frame * frameBytes, frameBytes, 500);
  expect(heard.timeOf(1_000)).toBe(1_500);
});

test('each pause delays the audio after it, however many there were', () => {
  const heard = new HeardAt();
  for (let reply = 0; reply < 500; reply += 1) heard.arrived(reply * frameBytes, frameBytes, reply * 1_000);
  expect([9_980, 9_990].map((at) => heard.timeOf(at))).toEqual([499_000, 499_010]);
  expect([8_800, 9_960].map((at) => heard.timeOf(at))).toEqual([440_000, 498_000]);
});

test('audio that an interruption drops counts as heard by then, and later audio when it arrives', () => {
  const heard = new HeardAt();
  heard.arrived(0, 60_000 * 32, 0);
  heard.interrupted(2_000);
  heard.interrupted(3_000);
  heard.arrived(60_000 * 32, frameBytes, 5_000);
  expect([1_000, 50_000, 60_000, 60_010].map((at) => heard.timeOf(at))).toEqual([1_000, 2_000, 5_000, 5_010]);
});

test('audio that comes at the moment of an interruption is not dropped', () => {
  const heard = new HeardAt();
  heard.interrupted(0);
  heard.arrived(0, 10 * frameBytes, 0);
  heard.interrupted(100);
  heard.arrived(10 * frameBytes, frameBytes, 100);
  expect([90, 150, 200, 210].map((at) => heard.timeOf(at))).toEqual([90, 100, 100, 110]);
});
