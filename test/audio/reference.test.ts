import { expect, test } from 'vitest';
import { createReference } from '../../src/audio/reference.ts';
import { bytesForMs } from '../../src/protocol/audio-format.ts';

/** The time in milliseconds as the value of each sample. */
const played = (atMs: number) => {
  const pcm = Buffer.alloc(bytesForMs(20));
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(Math.round(atMs + at / 32), at);
  return pcm;
};

test('is in step again within two seconds after the microphone skipped some audio', () => {
  const reference = createReference();
  const behind: number[] = [];
  for (let now = 0; now < 6_000; now += 20) {
    reference.played(played(now));
    // It gives nothing for 300 ms.
    if (now >= 2_000 && now < 2_300) continue;
    const first = (reference.take(320)[0] ?? 0) * 0x8000;
    behind.push(now - first);
  }
  expect(behind[90]).toBeCloseTo(20, 0);
  expect(behind[110]).toBeCloseTo(320, 0);
  expect(behind.at(-1)).toBeCloseTo(20, 0);
});
