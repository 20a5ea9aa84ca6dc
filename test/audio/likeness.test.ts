import { describe, expect, test } from 'vitest';
import { measureLikeness } from '../../src/audio/likeness.ts';
import { createResampler } from '../../src/audio/resample.ts';
import { fixturePcm } from '../helpers/fixtures.ts';

const speech = fixturePcm('question.wav');

function mapSamples(pcm: Buffer, map: (sample: number, at: number) => number): Buffer {
  const mapped = Buffer.alloc(pcm.length);
  for (let at = 0; at < pcm.length; at += 2) {
    const sample = Math.round(map(pcm.readInt16LE(at), at / 2));
    mapped.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, sample)), at);
  }
  return mapped;
}

function resample(pcm: Buffer, from: number, to: number): Buffer {
  const resampler = createResampler(from, to);
  const samples = Float32Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(2 * at));
  const out = [...resampler.push(samples), ...resampler.flush()];
  return mapSamples(Buffer.alloc(2 * out.length), (_, at) => out[at] ?? 0);
}

const noise = (_: number, at: number) => (((at * 7_919) ** 2 % 2_001) - 1_000) / 2;

describe('the same speech is alike', () => {
  test.each<[string, Buffer]>([
    ['unchanged', speech],
    ['20 dB quieter', mapSamples(speech, (sample) => sample / 10)],
    ['so loud that it clips', mapSamples(speech, (sample) => sample * 6)],
    ['with noise', mapSamples(speech, (sample, at) => sample + noise(sample, at))],
    ['without its first and last 200 ms', speech.subarray(6_400, -6_400)],
    ['with an offset', mapSamples(speech, (sample) => sample + 2_000)],
    ['through 8 kHz', resample(resample(speech, 16_000, 8_000), 8_000, 16_000)],
    ['through 44.1 kHz', resample(resample(speech, 16_000, 44_100), 44_100, 16_000)],
    ['from a clock that is 0.5 % off', resample(speech, 16_000, 16_080)],
    [
      'amid other speech and silence',
      Buffer.concat([fixturePcm('hello.wav'), Buffer.alloc(32_000), speech, fixturePcm('answer.wav')]),
    ],
  ])('%s', (_, heard) => {
    expect(measureLikeness(heard, speech)).toBeGreaterThan(0.8);
  });
});

describe('something else is not', () => {
  test.each<[string, Buffer]>([
    ['other speech', fixturePcm('hello.wav')],
    ['another voice', fixturePcm('answer.wav')],
    ['half of it', speech.subarray(0, (speech.length / 4) * 2)],
    ['the same at 1.5 × the speed', resample(speech, 24_000, 16_000)],
    ['samples with swapped bytes', Buffer.from(speech).swap16()],
    ['noise', mapSamples(Buffer.alloc(speech.length), (sample, at) => 8 * noise(sample, at))],
    ['silence', Buffer.alloc(64_000)],
    ['nothing', Buffer.alloc(0)],
    ['a single sample', Buffer.from([1, 2])],
  ])('%s', (_, heard) => {
    expect(measureLikeness(heard, speech)).toBeLessThan(0.65);
  });
});

test('silence resembles nothing', () => {
  expect(measureLikeness(speech, Buffer.alloc(32_000))).toBe(0);
});
