import { describe, expect, test } from 'vitest';
import { measureScale } from '../../../src/audio/verdict/voice-scale.ts';
import { speechAt } from '../../helpers/device-audio.ts';

const fourSeconds = (pcm: Buffer) => pcm.subarray(0, 128_000);

describe('a voice sounds', () => {
  test.each(['question.wav', 'answer.wav', 'two-turns.wav'])('right at 16 kHz: %s', (fixture) => {
    const scale = measureScale(fourSeconds(speechAt(16_000, fixture))) ?? 0;
    expect(scale).toBeGreaterThan(0.75);
    expect(scale).toBeLessThan(1.3);
  });

  test.each([8_000, 24_000, 32_000, 48_000])('as if it was recorded at %d samples a second', (rate) => {
    const scale = measureScale(fourSeconds(speechAt(rate))) ?? 1;
    expect(Math.log(scale) / Math.log(rate / 16_000)).toBeGreaterThan(0.7);
  });
});

describe('there is no voice', () => {
  const tone = Buffer.alloc(128_000);
  for (let at = 0; at < 64_000; at += 1) tone.writeInt16LE(Math.round(8_000 * Math.sin(at / 6)), 2 * at);
  const noise = Buffer.alloc(128_000);
  for (let at = 0; at < 64_000; at += 1) noise.writeInt16LE(((at * 7_919) ** 2 % 20_001) - 10_000, 2 * at);
  test.each([
    ['silence', Buffer.alloc(128_000)],
    ['a tone', tone],
    ['noise', noise],
    ['half a second of speech', speechAt(16_000).subarray(32_000, 48_000)],
    ['no audio', Buffer.alloc(0)],
  ])('in %s', (_what, pcm) => {
    expect(measureScale(pcm)).toBeUndefined();
  });
});
