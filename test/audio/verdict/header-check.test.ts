import { describe, expect, test } from 'vitest';
import { HeaderCheck } from '../../../src/audio/verdict/header-check.ts';
import { speechAt, speechPcm } from '../../helpers/device-audio.ts';
import { createRandom } from '../tone.ts';

type Header = (index: number) => Buffer;

const header =
  (bytes: number, write: (into: Buffer, index: number) => unknown): Header =>
  (index) => {
    const into = Buffer.alloc(bytes);
    write(into, index);
    return into;
  };

const rtp = header(12, (into, index) => {
  into[0] = 0x80;
  into[1] = 0x60;
  into.writeUInt16BE((65_500 + index) & 0xffff, 2);
  into.writeUInt32BE(3_000_000_000 + 320 * index, 4);
  into.writeUInt32BE(0x1234_5678, 8);
});

/** After how many messages of 20 ms, each with a header before it, the header is found; undefined: never. */
function find(pcm: Buffer, before: Header = () => Buffer.alloc(0), frameBytes = 640): number | undefined {
  const check = new HeaderCheck();
  let count = 0;
  for (let at = 0; at < pcm.length; at += frameBytes) {
    const found = check.push(Buffer.concat([before(count), pcm.subarray(at, at + frameBytes)]));
    count += 1;
    if (found) return count;
  }
  return undefined;
}

const samples = (count: number, at: (index: number) => number) => {
  const pcm = Buffer.alloc(2 * count);
  for (let index = 0; index < count; index += 1)
    pcm.writeInt16LE((Math.round(at(index)) << 16) >> 16, 2 * index);
  return pcm;
};

describe('a header before each message is found', () => {
  test.each<[string, Header]>([
    ['RTP', rtp],
    ['a 32-bit counter', header(4, (into, index) => into.writeUInt32LE(7 + index))],
    ['a 32-bit counter, high byte first', header(4, (into, index) => into.writeUInt32BE(7 + index))],
    ['a 16-bit counter', header(2, (into, index) => into.writeUInt16LE((65_530 + index) & 0xffff))],
    ['a 16-bit counter, high byte first', header(2, (into, index) => into.writeUInt16BE(index))],
    ['one byte beside a constant', header(2, (into, index) => into.set([0xa5, index & 0xff]))],
    ['a timestamp in samples', header(8, (into, index) => into.writeUInt32LE(320 * index, 4))],
    ['a timestamp in milliseconds', header(12, (into, index) => into.writeUInt32BE(20 * index, 8))],
  ])('%s', (_what, before) => {
    expect(find(speechPcm, before)).toBeLessThan(100);
  });

  test.each([10, 20, 30, 40])('in a voice that is %d dB softer', (db) => {
    const soft = samples(speechPcm.length / 2, (at) => speechPcm.readInt16LE(2 * at) * 10 ** (-db / 20));
    expect(
      find(
        Buffer.concat([soft, soft, soft]),
        header(4, (into, index) => into.writeUInt32LE(index)),
      ),
    ).toBeDefined();
  });

  test('in noise and in a tone', () => {
    const random = createRandom(3);
    for (const pcm of [
      samples(32_000, () => 8_000 * (random() - 0.5)),
      samples(32_000, (at) => 9_000 * Math.sin(at / 7)),
    ])
      expect(find(pcm, rtp)).toBeDefined();
  });

  test('not before twenty messages', () => {
    const random = createRandom(5);
    const noise = samples(32_000, () => 20_000 * (random() - 0.5));
    const messages = find(noise, rtp);
    // The first two tell by how much it rises; now and then the audio hardly changes.
    expect(messages).toBeGreaterThanOrEqual(22);
    expect(messages).toBeLessThan(26);
  });

  test('but is searched for only in the first ten seconds of sound', () => {
    const random = createRandom(7);
    const noise = samples(16_000 * 12, () => 20_000 * (random() - 0.5));
    const from = (first: number) => (index: number) => (index < first ? Buffer.alloc(12) : rtp(index));
    expect(find(noise, from(450))).toBeDefined();
    expect(find(noise, from(520))).toBeUndefined();
    expect(find(Buffer.concat([Buffer.alloc(640 * 520), noise]), from(520))).toBeDefined();
  });

  test('but not where the number of a message jumps within each twenty', () => {
    const jumpy = header(4, (into, index) => into.writeUInt32LE(index + 5 * Math.floor(index / 15)));
    expect(find(speechPcm, jumpy)).toBeUndefined();
  });
});

describe('no header is found', () => {
  const fixtures = ['question.wav', 'answer.wav', 'hello.wav', 'two-turns.wav', 'barge-in.wav', 'cough.wav'];
  test.each(fixtures)('in %s, in messages of any length', (name) => {
    const pcm = Buffer.concat(Array.from({ length: 3 }, () => speechAt(16_000, name)));
    for (const bytes of [160, 320, 640, 642, 1_280, 3_200])
      expect(find(pcm, undefined, bytes)).toBeUndefined();
  });

  const quantised = (sample: number, step: number) => Math.round(sample / step) * step;
  const seconds = 16_000;
  test.each<[string, (at: number) => number]>([
    ['silence', () => 0],
    ['a constant', () => 3_000],
    ['a ramp', (at) => at],
    ['a ramp that is steep', (at) => 37 * at],
    ['a slow ramp', (at) => at / 320],
    ['a sawtooth', (at) => (at % 100) * 600 - 30_000],
    ['a sawtooth of the whole range', (at) => at * 1_024],
    ['a square wave', (at) => (at % 640 < 320 ? -0x8000 : 0)],
    ['a square wave of 1 kHz', (at) => (at % 16 < 8 ? 9_000 : -9_000)],
    ['20 ms that repeat', (at) => speechPcm.readInt16LE(20_000 + 2 * (at % 320))],
    ['a voice at half its resolution', (at) => quantised(speechPcm.readInt16LE(2 * (at % 60_000)), 256)],
    ['the same at 9 bits', (at) => quantised(speechPcm.readInt16LE(2 * (at % 60_000)), 128)],
    ['samples that repeat', (at) => speechPcm.readInt16LE(2 * Math.floor((at % 100_000) / 4))],
  ])('in %s', (_what, at) => {
    expect(find(samples(20 * seconds, at))).toBeUndefined();
  });

  test('in tones near a multiple of 50 Hz, whose messages are almost the same, however coarse they are', () => {
    for (const hz of [50, 440, 1_000])
      for (const off of [0, 0.001, 0.062, 0.5])
        for (const peak of [100, 796, 32_000])
          for (const step of [1, 256]) {
            const tone = samples(4 * seconds, (at) =>
              quantised(peak * Math.sin((2 * Math.PI * (hz + off) * at) / 16_000), step),
            );
            expect([hz, off, peak, step, find(tone)]).toEqual([hz, off, peak, step, undefined]);
          }
  });

  test('in messages that are too short to have audio after it', () => {
    expect(find(speechPcm, rtp, 40)).toBeUndefined();
  });
});
