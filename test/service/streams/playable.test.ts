import { expect, test } from 'vitest';
import { playPcm } from '../../../src/service/streams/playable.ts';

test('PCM is read in frames; the last one may be shorter', () => {
  const pcm = Buffer.from([1, 2, 3, 4, 5, 6]);
  const playable = playPcm(pcm);
  expect([playable.read(4), playable.read(4), playable.read(4)]).toEqual([
    pcm.subarray(0, 4),
    pcm.subarray(4),
    undefined,
  ]);
});

test('PCM without a byte ends immediately', () => {
  expect(playPcm(Buffer.alloc(0)).read(640)).toBeUndefined();
});
