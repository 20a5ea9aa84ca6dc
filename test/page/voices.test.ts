import { expect, test } from 'vitest';
import { makeWav } from '../../src/page/app/recording/voices.ts';

/** What is heard of a voice of 1,000 (you) and of one of 100 (the AI), left and right. */
async function heard(hear: Parameters<typeof makeWav>[2]) {
  const wav = makeWav({ out: Int16Array.of(1_000), in: Int16Array.of(100) }, 16_000, hear);
  const bytes = Buffer.from(await wav.arrayBuffer());
  expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
  return [bytes.readInt16LE(44), bytes.readInt16LE(46)];
}

test('a listener hears you more on the left, the AI more on the right, or one of both alone', async () => {
  expect(await heard('both')).toEqual([895, 535]);
  expect(await heard('out')).toEqual([1_000, 1_000]);
  expect(await heard('in')).toEqual([100, 100]);
});
