import { expect, test } from 'vitest';
import { judgeAudio } from '../../src/rules/reply-audio.ts';
import type { SeenStream } from '../../src/rules/stream-seen.ts';
import type { WireMessage } from '../../src/wire/exchange.ts';
import { speechAt } from '../helpers/device-audio.ts';
import { confirms, connects, speaks, toneFrame } from '../helpers/device-exchanges.ts';
import { replies, tellFinding } from '../helpers/service-exchanges.ts';

type End = NonNullable<Parameters<typeof connects>[0]>['end'];

function judge(messages: readonly WireMessage[], end?: End): string | undefined {
  const exchange = connects({ messages, ...(end === undefined ? {} : { end }) });
  return tellFinding(judgeAudio({ id: 'S1', exchange } as SeenStream));
}

/** The tone as the service sends it: frames of 20 ms, by default at their pace. */
function tone(
  count: number,
  everyMs = 20,
  change: (frame: Buffer) => Buffer = (frame) => frame,
): WireMessage[] {
  return Array.from({ length: count }, (_, index) => replies(index * everyMs, change(toneFrame(index))));
}

/** A reply of this long, as a service with another rate sends it. */
const spoken = (rate: number, ms: number, everyMs = 320_000 / rate) => {
  const pcm = speechAt(rate).subarray(0, 2 * Math.floor((rate * ms) / 1000));
  return Array.from({ length: Math.floor(pcm.length / 640) }, (_, index) =>
    replies(index * everyMs, pcm.subarray(640 * index, 640 * (index + 1))),
  );
};

const swapped = (frame: Buffer) => Buffer.from(frame).swap16();
const doubled = (frame: Buffer) => {
  const stereo = Buffer.alloc(frame.length * 2);
  for (let at = 0; at < frame.length; at += 2) {
    const sample = frame.readInt16LE(at);
    stereo.writeInt16LE(sample, at * 2);
    stereo.writeInt16LE(sample, at * 2 + 2);
  }
  return stereo;
};
/** A square wave of this height: its steps fall on odd and on even samples. */
const square = (height: number) => (frame: Buffer) => {
  for (let at = 0; at < frame.length; at += 2) frame.writeInt16LE(at % 34 < 16 ? height : -height, at);
  return frame;
};
const starting = (start: string) => [replies(0, Buffer.from(`${start}${'x'.repeat(640)}`))];
const half = Buffer.alloc(1);
const tooLittle = 'unknown: too short or too quiet to determine its format (S1)';
const fits = (ms: number) => `unknown: ${ms} ms of audio cannot be judged: less than a second of speech (S1)`;
const fitsWithoutRate = (ms: number) =>
  `pass: ${ms} ms of audio fit the format; its pace does not show its sample rate, so only a rate that is far off would be noticed (S1)`;
const both = (format: string, off: string, times: number) =>
  `warn: the service’s audio is ${format}, or 16 kHz sent ${off}: it arrives at ${times} × real time (S1)`;
const header = 'fail: the service’s audio begins with a WAV header, which is audible as a click (S1)';
const compressed =
  'fail: the service’s audio is compressed, or a file with compressed audio (Ogg, MP3, AAC, FLAC, WebM) (S1)';
const odd = 'fail: the service’s audio ends within a sample: it has an odd number of bytes (S1)';

test.each<[what: string, found: string | undefined, messages: readonly WireMessage[], end?: End]>([
  ['a tone', fits(100), tone(5)],
  ['a tone of 60 ms', fits(60), tone(3)],
  ['less than 60 ms', tooLittle, [...tone(2), replies(40, toneFrame(2).subarray(0, 638))]],
  ['audible audio', fits(100), tone(5, 20, square(33))],
  ['inaudible audio', tooLittle, tone(5, 20, square(32))],
  ['no audio', undefined, []],
  ['audio of the device alone', undefined, speaks(0, { ms: 100 })],
  ['a WAV file', header, starting('RIFF')],
  ['an Ogg stream', compressed, starting('OggS')],
  ['an MP3 file', compressed, starting('ID3')],
  ['a FLAC file', compressed, starting('fLaC')],
  [
    'swapped bytes',
    'fail: the service’s audio is big-endian: the bytes of each sample are swapped (S1)',
    tone(5, 20, swapped),
  ],
  ['stereo', 'fail: the service’s audio looks like stereo (S1)', tone(5, 20, doubled)],
  [
    'a status among the audio',
    'fail: a binary message is JSON: "{\\"type\\":\\"status\\"}" (S1)',
    [confirms(0), ...tone(5), replies(100, Buffer.from('{"type":"status"}')), ...tone(5)],
  ],
  ['a confirmation in place of audio', tooLittle, [replies(0, Buffer.from('{"type":"ready"}'))]],
  ['samples that begin like JSON', tooLittle, [confirms(0), replies(0, Buffer.from('{"'))]],
  ['half a sample at the end', odd, [...tone(5), replies(100, half)], { at: 600, by: 'device' }],
  [
    'half a sample, and more may come',
    fits(100),
    [...tone(5), replies(100, half)],
    { at: 599, by: 'device' },
  ],
  ['whole samples, and then an end', fits(100), tone(5), { at: 600, by: 'device' }],
  [
    'half the rate, after a while',
    both('8 kHz', 'too slow', 0.5),
    tone(50, 40).map((message) => ({ ...message, at: message.at + 60_000 })),
  ],
  ['half a sample on an open stream', fits(100), [...tone(5), replies(100, half)]],
  [
    'half a sample that echoes one of the device',
    'pass: 100 ms of audio fit the format (S1)',
    [...speaks(0, { ms: 100 }), ...speaks(100, { frame: () => half }), ...tone(5, 40), replies(200, half)],
    { at: 700, by: 'device' },
  ],
  [
    'half a sample where the device sent whole ones',
    odd,
    [...speaks(0), ...tone(5), replies(100, half)],
    { at: 600, by: 'device' },
  ],
  ['a tone of two seconds', fits(2_000), tone(100)],
  ['speech', 'pass: 3000 ms of audio fit the format (S1)', spoken(16_000, 3_000)],
  ['speech at once', fitsWithoutRate(3_000), spoken(16_000, 3_000, 0)],
  ['speech at 24 kHz, sent 1.5 × too fast', fitsWithoutRate(4_500), spoken(24_000, 3_000, 80 / 9)],
  ['2 s of speech at 24 kHz', both('24 kHz', 'too fast', 1.5), spoken(24_000, 2_000)],
  ['2 s of speech at 8 kHz', both('8 kHz', 'too slow', 0.5), spoken(8_000, 2_000)],
  [
    '3 s of speech at 24 kHz',
    'fail: the service’s audio is 24 kHz: it arrives at 1.5 × real time, and the voice sounds 1.5 × too slow (S1)',
    spoken(24_000, 3_000),
  ],
  [
    '4 s of speech at 8 kHz',
    'fail: the service’s audio is 8 kHz: it arrives at 0.5 × real time, and the voice sounds 2 × too fast (S1)',
    spoken(8_000, 4_000),
  ],
  ['half the rate', both('8 kHz', 'too slow', 0.5), tone(50, 40)],
  ['one and a half times the rate', both('24 kHz', 'too fast', 1.5), tone(150, 40 / 3)],
  ['three times the rate', both('48 kHz', 'too fast', 3), tone(300, 20 / 3)],
  ['22 050 Hz', both('22.05 kHz', 'too fast', 1.38), tone(150, 320 / 22.05)],
  ['44 100 Hz', both('44.1 kHz', 'too fast', 2.76), tone(300, 320 / 44.1)],
  ['a rate of nothing', fits(2_000), tone(100, 16)],
  ['a rate 1.9 % beside half', both('8 kHz', 'too slow', 0.51), tone(50, 320 / 8.152)],
  ['a rate 2.1 % beside half', fits(1_000), tone(50, 320 / 8.168)],
  ['half the rate for less than 1.5 s', fits(760), tone(38, 40)],
  ['half the rate for 1.5 s', both('8 kHz', 'too slow', 0.5), tone(39, 40)],
  [
    'half the rate with a pause',
    fits(1_000),
    tone(50, 40).map((message, index) => ({ ...message, at: index < 25 ? message.at / 2 : message.at })),
  ],
])('%s: %s', (_what, found, messages, end) => {
  expect(judge(messages, end)).toBe(found);
});

test('audio that ends in the middle of a sound fits the format, and the end is reported', () => {
  const found = [1_200, 1_300, 1_400, 1_500, 1_600, 1_700, 1_800].map(
    (ms) => judge(spoken(16_000, ms), { at: 5_000, by: 'device' }) ?? '',
  );
  expect(found.every((text) => text.startsWith('pass: '))).toBe(true);
  expect(found.some((text) => text.includes('; the service’s audio ends in the middle of a sound'))).toBe(
    true,
  );
});
