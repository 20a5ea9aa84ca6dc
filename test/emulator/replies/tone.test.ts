import { expect, test } from 'vitest';
import { tone } from '../../../src/emulator/replies/tone.ts';
import { speakWith } from '../../helpers/fake-voice.ts';
import { silence, speech } from '../../helpers/pcm.ts';

test('tone replies to each turn with a second of 440 Hz at −12 dBFS', () => {
  const { said, hear } = speakWith(tone);
  for (let turn = 0; turn < 2; turn += 1) hear(Buffer.concat([speech(500), silence(1_000)]));
  expect(said).toHaveLength(2);
  const samples = new Int16Array(said[0]!.buffer, said[0]!.byteOffset, said[0]!.length / 2);
  expect(samples).toHaveLength(16_000);
  const crossings = samples.filter((sample, i) => i > 0 && samples[i - 1]! < 0 && sample >= 0).length;
  expect(Math.abs(crossings - 440)).toBeLessThanOrEqual(1);
  expect(20 * Math.log10(Math.max(...samples) / 32_768)).toBeCloseTo(-12.04, 1);
  expect(said[1]!.equals(said[0]!)).toBe(true);
});
