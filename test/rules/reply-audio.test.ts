import { expect, test } from 'vitest';
import { judgeAudio } from '../../src/rules/reply-audio.ts';
import type { SeenStream } from '../../src/rules/stream-seen.ts';
import type { WireMessage } from '../../src/wire/exchange.ts';
import { connects, speaks, toneFrame } from '../helpers/device-exchanges.ts';
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
const tooLittle = 'unknown: too short or too quiet to tell its format (S1)';
const fits = (ms: number) => `pass: ${ms} ms of audio fit the format (S1)`;

test.each<[what: string, found: string | undefined, messages: readonly WireMessage[], end?: End]>([
  ['a tone', fits(100), tone(5)],
  ['a tone of 60 ms', fits(60), tone(3)],
  ['less than 60 ms', tooLittle, [...tone(2), replies(40, toneFrame(2).subarray(0, 638))]],
  ['audible audio', fits(100), tone(5, 20, square(33))],
  ['inaudible audio', tooLittle, tone(5, 20, square(32))],
  ['no audio', undefined, []],
  ['audio of the device alone', undefined, speaks(0, { ms: 100 })],
  ['a WAV file', 'fail: it begins with RIFF: WAV, no raw PCM (S1)', starting('RIFF')],
  ['an Ogg stream', 'fail: it begins with OggS: Ogg, no raw PCM (S1)', starting('OggS')],
  ['an MP3 file', 'fail: it begins with ID3: MP3, no raw PCM (S1)', starting('ID3')],
  ['a FLAC file', 'fail: it begins with fLaC: FLAC, no raw PCM (S1)', starting('fLaC')],
  ['swapped bytes', 'fail: big-endian: the bytes are swapped (S1)', tone(5, 20, swapped)],
  ['stereo', 'fail: stereo: each sample comes twice (S1)', tone(5, 20, doubled)],
  [
    'half a sample at the end',
    'fail: 3201 bytes: half a sample too much (S1)',
    [...tone(5), replies(100, half)],
    { at: 600, by: 'device' },
  ],
  [
    'half a sample, and more may come',
    fits(100),
    [...tone(5), replies(100, half)],
    { at: 599, by: 'device' },
  ],
  ['whole samples, and then an end', fits(100), tone(5), { at: 600, by: 'device' }],
  [
    'half the rate, after a while',
    'warn: it comes at 8000 samples a second, and not 16000 (S1)',
    tone(50, 40).map((message) => ({ ...message, at: message.at + 60_000 })),
  ],
  ['half a sample on an open stream', fits(100), [...tone(5), replies(100, half)]],
  [
    'half a sample that echoes one of the device',
    fits(100),
    [...speaks(0, { frame: () => half }), ...tone(5), replies(100, half)],
    { at: 600, by: 'device' },
  ],
  [
    'half a sample where the device sent whole ones',
    'fail: 3201 bytes: half a sample too much (S1)',
    [...speaks(0), ...tone(5), replies(100, half)],
    { at: 600, by: 'device' },
  ],
  ['a tone of two seconds', fits(2_000), tone(100)],
  ['half the rate', 'warn: it comes at 8000 samples a second, and not 16000 (S1)', tone(50, 40)],
  [
    'one and a half times the rate',
    'warn: it comes at 24000 samples a second, and not 16000 (S1)',
    tone(150, 40 / 3),
  ],
  ['three times the rate', 'warn: it comes at 48000 samples a second, and not 16000 (S1)', tone(300, 20 / 3)],
  ['22 050 Hz', 'warn: it comes at 22050 samples a second, and not 16000 (S1)', tone(150, 320 / 22.05)],
  ['44 100 Hz', 'warn: it comes at 44100 samples a second, and not 16000 (S1)', tone(300, 320 / 44.1)],
  ['a rate of nothing', fits(2_000), tone(100, 16)],
  [
    'a rate 1.9 % beside half',
    'warn: it comes at 8152 samples a second, and not 16000 (S1)',
    tone(50, 320 / 8.152),
  ],
  ['a rate 2.1 % beside half', fits(1_000), tone(50, 320 / 8.168)],
  ['half the rate for less than 1.5 s', fits(760), tone(38, 40)],
  ['half the rate for 1.5 s', 'warn: it comes at 8000 samples a second, and not 16000 (S1)', tone(39, 40)],
  [
    'half the rate with a pause',
    fits(1_000),
    tone(50, 40).map((message, index) => ({ ...message, at: index < 25 ? message.at / 2 : message.at })),
  ],
])('%s: %s', (_what, found, messages, end) => {
  expect(judge(messages, end)).toBe(found);
});
