import { describe, expect, test } from 'vitest';
import { recogniseFormat } from '../../../src/audio/verdict/recognise-format.ts';
import { VoiceCheck } from '../../../src/audio/verdict/voice-check.ts';
import { encodings, speechPcm } from '../../helpers/device-audio.ts';
import { createRandom } from '../tone.ts';

/** What is found in audio that comes in real time, 20 ms a message. */
function judge(audio: Buffer, bytesPerSample: number) {
  let now = 0;
  const check = new VoiceCheck({ from: 'device', clock: { now: () => now } });
  for (let at = 0; at < audio.length; at += 320 * bytesPerSample) {
    check.push(audio.subarray(at, at + 320 * bytesPerSample));
    now += 20;
  }
  return check.verdict().findings;
}

test.each([
  ['float32', encodings.float32, 4],
  ['int32', encodings.int32, 4],
  ['half-empty', encodings.halfEmpty, 4],
  ['int24', encodings.int24, 3],
  ['int24', encodings.paddedTo24, 3],
  ['unsigned-16', encodings.unsigned16, 2],
  ['unsigned-8', encodings.unsigned8, 1],
  ['signed-8', encodings.signed8, 1],
  ['mulaw', encodings.mulaw, 1],
  ['alaw', encodings.alaw, 1],
  ['swapped-bytes', encodings.swapped, 2],
  ['stereo', encodings.stereo, 4],
])('%s is found, and its pace is right', (finding, encode, bytesPerSample) => {
  expect(judge(encode(), bytesPerSample)).toEqual([finding]);
});

test('an extra byte at the start is found, and explains half a sample at the end', () => {
  expect(judge(encodings.shifted(), 2)).toEqual(['byte-shift']);
});

test.each(['device', 'service'] as const)(
  'a header before each message of the %s is found, and explains its clicks',
  (from) => {
    const framed = Buffer.concat([encodings.framed(), encodings.framed()]);
    let now = 0;
    const check = new VoiceCheck({ from, clock: { now: () => now }, isThorough: true });
    for (let at = 0; at < framed.length; at += 652) {
      check.push(framed.subarray(at, at + 652));
      now += 20;
    }
    check.end();
    expect(check.verdict().findings).toEqual(['frame-header']);
    expect(check.judgements().map(({ kind }) => kind)).toEqual(['frame-header']);
  },
);

test('nothing is found in the right format', () => {
  expect(judge(speechPcm, 2)).toEqual([]);
});

const tone = (peak: number, samples = 1_024, hz = 440, offset = 0) => {
  const pcm = Buffer.alloc(2 * samples);
  for (let at = 0; at < samples; at += 1)
    pcm.writeInt16LE(offset + Math.round(peak * Math.sin((2 * Math.PI * hz * at) / 16_000)), 2 * at);
  return pcm;
};
/** 1,024 samples: 500 Hz with steep edges. */
const square = (peak: number, offset: number) => {
  const pcm = Buffer.alloc(2_048);
  for (let at = 0; at < 1_024; at += 1) pcm.writeInt16LE(offset + (at % 32 < 16 ? peak : -peak), 2 * at);
  return pcm;
};
/** A tone of 512 floats, of which so many, spread evenly, are another value. */
const floats = (others = 0, value = 0) => {
  const bytes = Buffer.alloc(2_048);
  for (let at = 0; at < 512; at += 1) bytes.writeFloatLE(0.5 * Math.sin(at / 7 + 0.1), 4 * at);
  for (let at = 0; at < others; at += 1) bytes.writeFloatLE(value, 4 * Math.floor((at * 512) / others));
  return bytes;
};
const random = createRandom(3);
const noiseAbove = Buffer.alloc(2_048);
for (let at = 0; at < 2_048; at += 2) noiseAbove.writeInt16LE(Math.round(3_000 + random() * 4_000), at);
const noise = Buffer.from(Array.from({ length: 2_048 }, (_, at) => (at * at * 7_919 + at * 31) % 251));

describe('of one message', () => {
  test.each<[string, Buffer, string]>([
    ['a tone', tone(10_000), 'pcm'],
    ['a tone above a constant', tone(10_000, 1_024, 440, 5_000), 'pcm'],
    ['a tone that is just loud enough', tone(1_000), 'pcm'],
    ['a softer one', tone(999), 'unclear'],
    ['a soft one beside a constant', tone(400, 1_024, 440, 9_000), 'unclear'],
    ['a soft one that is never positive', tone(499, 1_024, 440, -499), 'unclear'],
    ['one that is never positive', tone(700, 1_024, 440, -700), 'pcm'],
    ['one that is never negative', tone(700, 1_024, 440, 700), 'pcm'],
    ['soft edges beside a constant', square(499, 9_000), 'unclear'],
    ['louder ones', square(501, 9_000), 'pcm'],
    ['the ends of the scale in turn', square(32_767, 0), 'unclear'],
    ['noise above a constant', noiseAbove, 'noise'],
    ['a constant', Buffer.alloc(2_048, 0x22), 'unclear'],
    ['silence', Buffer.alloc(2_048), 'unclear'],
    ['64 samples', tone(10_000, 64), 'pcm'],
    ['63 samples', tone(10_000, 63), 'unclear'],
    ['noise', noise, 'noise'],
    ['big-endian samples', tone(10_000).swap16(), 'swapped-bytes'],
    ['more than is looked at', Buffer.concat([tone(10_000), noise, noise, noise]), 'pcm'],
  ])('%s is recognised', (_what, message, format) => {
    expect(recogniseFormat(message, 0)).toBe(format);
  });

  test.each<[string, Buffer, boolean]>([
    ['a tone', floats(), true],
    ['a tone and nearly as many zeros', floats(255), true],
    ['as many zeros', floats(256), false],
    ['a tone and 25 numbers beyond all scales', floats(25, 1e30), true],
    ['a tone and 26 numbers beyond all scales', floats(26, 1e30), false],
    ['a tone and 26 twice the full scale', floats(26, -2), false],
    ['a tone and 26 that are far too small', floats(26, 1e-9), false],
  ])('%s as floats', (_what, message, isFound) => {
    expect(recogniseFormat(message, 0) === 'float32').toBe(isFound);
  });

  test.each([
    ['swapped-bytes', encodings.swapped, 49],
    ['byte-shift', encodings.shifted, 49],
    ['unsigned-16', encodings.unsigned16, 49],
    ['unsigned-8', encodings.unsigned8, 26],
    ['signed-8', encodings.signed8, 26],
    ['int32', encodings.int32, 97],
    ['half-empty', encodings.halfEmpty, 94],
    ['int24', encodings.paddedTo24, 83],
  ])('most of %s are recognised, and none as another format', (format, encode, least) => {
    const bytes = encode();
    const told = Array.from({ length: Math.floor(bytes.length / 2_048) }, (_, at) =>
      recogniseFormat(bytes.subarray(2_048 * at, 2_048 * (at + 1)), 0),
    );
    expect(told.filter((found) => found === format).length).toBeGreaterThanOrEqual(least);
    expect(told.filter((found) => ![format, 'noise', 'unclear'].includes(found))).toEqual([]);
  });

  test('a stream that is split within a sample continues in the next message', () => {
    const message = Buffer.concat([Buffer.of(7), tone(10_000)]);
    expect([recogniseFormat(message, 0), recogniseFormat(message, 1)]).toEqual(['byte-shift', 'pcm']);
  });

  test.each([0, 1, 2])('24-bit samples are found from byte %d on', (from) => {
    expect(recogniseFormat(encodings.int24().subarray(60_000 + from, 62_048 + from), 0)).toBe('int24');
  });

  test.each([0, 2])('32-bit samples are found from byte %d on', (from) => {
    expect(recogniseFormat(encodings.int32().subarray(80_000 + from, 82_048 + from), 0)).toBe('int32');
    expect(recogniseFormat(encodings.halfEmpty().subarray(80_000 + from, 82_048 + from), 0)).toBe(
      'half-empty',
    );
  });
});
