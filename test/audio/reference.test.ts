import { expect, test } from 'vitest';
import { createReference } from '../../src/audio/reference.ts';
import { bytesForMs } from '../../src/protocol/audio-format.ts';

/** The time in milliseconds as the value of each sample. */
const played = (atMs: number) => {
  const pcm = Buffer.alloc(bytesForMs(20));
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(Math.round(atMs + at / 32), at);
  return pcm;
};

test('is aligned again within two seconds after the microphone skipped some audio', () => {
  const reference = createReference();
  const behind: number[] = [];
  for (let now = 0; now < 6_000; now += 20) {
    reference.played(played(now));
    // It gives nothing for 300 ms.
    if (now >= 2_000 && now < 2_300) continue;
    const first = (reference.read(320)[0] ?? 0) * 0x8000;
    behind.push(now - first);
  }
  expect(behind[90]).toBeCloseTo(20, 0);
  expect(behind[110]).toBeCloseTo(320, 0);
  expect(behind.at(-1)).toBeCloseTo(20, 0);
});

/** What is taken of what was played, as its time in milliseconds. */
const takenMs = (samples: Float32Array) => [...samples].map((sample) => sample * 0x8000);

test('played audio is held back for 20 ms, after silence', () => {
  const reference = createReference();
  reference.played(played(100));
  expect(takenMs(reference.read(320))).toEqual(Array(320).fill(0));
  expect(takenMs(reference.read(320))[0]).toBe(100);
  expect(takenMs(reference.read(320))).toEqual(Array(320).fill(0));
});

test('if more than half a second waits, the oldest is dropped', () => {
  const reference = createReference();
  for (let at = 1_000; at < 1_600; at += 20) reference.played(played(at));
  reference.read(320);
  expect(takenMs(reference.read(320))[0]).toBe(1_100);
});

test('if half a second waits, nothing is dropped', () => {
  const reference = createReference();
  for (let at = 1_000; at < 1_500; at += 20) reference.played(played(at));
  reference.read(320);
  expect(takenMs(reference.read(320))[0]).toBe(1_000);
});
