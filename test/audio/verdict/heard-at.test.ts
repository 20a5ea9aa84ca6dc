import { expect, test } from 'vitest';
import { HeardAt } from '../../../src/audio/verdict/heard-at.ts';

const frameBytes = 640;

test('audio in real time is heard when it arrives', () => {
  const heard = new HeardAt();
  for (let frame = 0; frame < 100; frame += 1) heard.note(frame * frameBytes, frameBytes, 500 + frame * 20);
  expect([0, 400, 1_990].map((at) => heard.timeOf(at))).toEqual([500, 900, 2_490]);
});

test('audio that comes at once is heard one after the other', () => {
  const heard = new HeardAt();
  for (let frame = 0; frame < 100; frame += 1) heard.note(frame * frameBytes, frameBytes, 500);
  expect(heard.timeOf(1_000)).toBe(1_500);
});

test('a pause moves what comes after it, however many there were', () => {
  const heard = new HeardAt();
  for (let reply = 0; reply < 500; reply += 1) heard.note(reply * frameBytes, frameBytes, reply * 1_000);
  expect([9_980, 9_990].map((at) => heard.timeOf(at))).toEqual([499_000, 499_010]);
});
