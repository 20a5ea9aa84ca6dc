import { describe, expect, test } from 'vitest';
import { PcmCheck, recogniseContainer } from '../../../src/audio/verdict/pcm-check.ts';
import { speechPcm } from '../../helpers/device-audio.ts';
import { createRandom } from '../tone.ts';

const messageBytes = 3_200;
const messageSamples = messageBytes / 2;

type Told = [atMs: number, finding: string];

/** What is told of these messages, and when: 100 ms each, as they come in real time. */
function follow(messages: Iterable<Buffer>, check = new PcmCheck()): Told[] {
  const told: Told[] = [];
  let now = 0;
  for (const message of messages) {
    for (const finding of check.push(message, now)) told.push([now, finding]);
    now += message.length / 32;
  }
  return told;
}

const findings = (messages: Iterable<Buffer>) => follow(messages).map(([, finding]) => finding);

function pcmOf(count: number, sample: (index: number) => number): Buffer {
  const pcm = Buffer.alloc(2 * count);
  for (let index = 0; index < count; index += 1) pcm.writeInt16LE(Math.round(sample(index)), 2 * index);
  return pcm;
}

const repeat = (message: Buffer, seconds: number): Buffer[] =>
  Array.from({ length: (seconds * 32_000) / message.length }, () => message);
/** 100 ms of 500 Hz, whose mean is exactly 0, or the offset. */
const tone = (offset = 0) =>
  pcmOf(messageSamples, (index) => Math.round(8_000 * Math.sin((2 * Math.PI * index) / 32)) + offset);
const random = createRandom(5);
const noise = pcmOf(messageSamples, () => random() * 20_000 - 10_000);
const swapped = Buffer.from(tone()).swap16();

describe('loudness', () => {
  /** Messages of one second, whose samples are all this far from zero; every other one is passed over. */
  function hear(...seconds: [atMs: number, level: number][]): Told[] {
    const check = new PcmCheck();
    return seconds.flatMap(([at, level]) => {
      const message = pcmOf(16_000, (index) => (index % 2 === 0 ? -level : level - 1));
      return [...check.push(message, at), ...check.push(message, at)].map((finding): Told => [at, finding]);
    });
  }

  test.each([
    [0, 'silence'],
    [32, 'silence'],
    [33, 'quiet'],
    [329, 'quiet'],
  ])('of no more than %d is reported as %s after 5 seconds', (level, finding) => {
    expect(hear([0, level], [4_999, level])).toEqual([]);
    expect(hear([0, level], [2_000, level], [5_000, level], [15_000, level])).toEqual([[5_000, finding]]);
  });

  test('of 330 is speech, after which nothing is reported', () => {
    expect(hear([0, 330], [5_000, 330], [10_000, 0], [20_000, 0], [30_000, 100], [40_000, 100])).toEqual([]);
  });

  test('silence begins again after a sound, at the end of the last examined audio', () => {
    expect(hear([0, 0], [2_000, 100], [4_000, 0], [6_999, 0])).toEqual([]);
    expect(hear([0, 0], [2_000, 100], [4_000, 0], [7_000, 0])).toEqual([[7_000, 'silence']]);
  });

  test('quiet audio counts from its first sound', () => {
    expect(hear([0, 0], [2_000, 0], [4_000, 100], [6_999, 100])).toEqual([]);
    expect(hear([0, 0], [2_000, 0], [4_000, 100], [7_000, 100])).toEqual([[7_000, 'quiet']]);
  });

  test('the first sound counts from the end of the audio that was examined before', () => {
    expect(hear([0, 0], [2_000, 100], [4_999, 100])).toEqual([]);
    expect(hear([0, 0], [2_000, 100], [5_000, 100])).toEqual([[5_000, 'quiet']]);
  });

  test('silence is measured without interruption, even late in a stream', () => {
    const whisper = pcmOf(messageSamples, (index) => 100 * Math.sin(index / 5));
    const told = follow([...repeat(whisper, 12), ...repeat(Buffer.alloc(messageBytes), 24)]);
    expect(told).toEqual([
      [5_700, 'quiet'],
      [24_900, 'silence'],
    ]);
  });

  test('quiet audio is not reported again after a pause', () => {
    expect(hear([0, 100], [2_000, 0], [4_000, 0], [5_000, 100])).toEqual([[5_000, 'quiet']]);
  });

  test('both can be reported for one device', () => {
    expect(hear([0, 0], [5_000, 0], [6_000, 100], [10_000, 100])).toEqual([
      [5_000, 'silence'],
      [10_000, 'quiet'],
    ]);
  });
});

describe('of right samples', () => {
  /** Up and down in steps: within pairs of samples, and from one pair to the next. */
  function stairs(within: number, between: number): Buffer {
    let level = 0;
    let direction = 1;
    return pcmOf(32_000, (index) => {
      if (index > 0) level += direction * (index % 2 === 0 ? between : within);
      if (index % 2 === 1 && level * direction >= 8_000) direction = -direction;
      return level;
    });
  }
  /** In memory of its own, where a byte too many cannot be read. */
  const copyOf = (message: Buffer) => Buffer.from(Uint8Array.from(message).buffer);
  const cut = (pcm: Buffer, bytes: number) =>
    Array.from({ length: Math.ceil(pcm.length / bytes) }, (_, at) =>
      pcm.subarray(at * bytes, (at + 1) * bytes),
    );

  test('a tone is fine', () => {
    expect(follow(repeat(tone(), 4))).toEqual([]);
  });

  test('pairs that are more than 4 times as far from each other as left from right are stereo', () => {
    expect(follow(cut(stairs(40, 160), messageBytes))).toEqual([]);
    expect(follow(cut(stairs(40, 161), messageBytes))).toEqual([[900, 'stereo']]);
    expect(follow(cut(stairs(161, 40), messageBytes))).toEqual([]);
  });

  test.each([642, 3_202, 3_206])('stereo is found in messages of %d bytes', (bytes) => {
    expect(findings(cut(stairs(0, 200), bytes))).toEqual(['stereo']);
  });

  test.each([641, 3_201])('a tone is fine in messages of %d bytes, which end within samples', (bytes) => {
    expect(follow(cut(Buffer.concat(repeat(tone(), 4)), bytes).map(copyOf))).toEqual([]);
  });

  test('messages without a whole sample change nothing', () => {
    const nothing = [0, 1, 0, 1, 0].map((bytes) => copyOf(Buffer.alloc(bytes)));
    expect(findings([...nothing, ...repeat(tone(3_000), 2)])).toEqual(['dc-offset']);
  });

  test('an offset is reported when the format is known, or the search for it has ended', () => {
    const voltage = pcmOf(messageSamples, () => 3_000);
    expect(follow(repeat(voltage, 4))).toEqual([[3_300, 'dc-offset']]);
  });

  /** Ten messages: so many samples of the first one, and of each other, are at the end of the scale. */
  const clipped = (first: number, others: number, end: number, offset = 0) =>
    Array.from({ length: 10 }, (_, at) => {
      const pcm = tone(offset);
      for (let index = 0; index < (at === 0 ? first : others); index += 1)
        pcm.writeInt16LE(end, 2 * (1_100 + index));
      return pcm;
    });

  test.each([0x7fff, -0x8000])('more than one in 200 samples of %d are clipping', (end) => {
    expect(findings(clipped(8, 8, end))).toEqual([]);
    expect(findings(clipped(9, 8, end))).toEqual(['clipping']);
  });

  test.each([0x7ffe, -0x7fff])('%d is not the end of the scale', (sample) => {
    expect(findings(clipped(20, 20, sample))).toEqual([]);
  });

  test('the offset of clipped audio is not reported', () => {
    expect(findings(clipped(50, 50, 0x7fff, 3_000))).toEqual(['clipping']);
  });

  test.each([1_000, -1_000])('a mean of %d is fine', (offset) => {
    expect(findings(repeat(tone(offset), 3))).toEqual([]);
  });

  test.each([1_001, -1_001])('a mean of %d is an offset, reported once', (offset) => {
    expect(follow(repeat(tone(offset), 4))).toEqual([[900, 'dc-offset']]);
  });

  test('an offset that begins later is found, even after a minute', () => {
    expect(findings([...repeat(tone(), 3), ...repeat(tone(3_000), 3)])).toEqual(['dc-offset']);
    expect(findings([...repeat(tone(), 60), ...repeat(tone(3_000), 12)])).toEqual(['dc-offset']);
  });

  test('noise has no offset, because it may be misread samples', () => {
    const loud = pcmOf(messageSamples, (index) => 5_000 + (index % 2 === 0 ? 9_000 : -9_000));
    expect(findings([...repeat(tone(), 1), ...repeat(loud, 2)])).toEqual([]);
  });
});

describe('the format', () => {
  test('is reported with the fourth message that shows it', () => {
    expect(follow(repeat(swapped, 4))).toEqual([[300, 'swapped-bytes']]);
    expect(follow([...repeat(swapped, 0.3), ...repeat(Buffer.alloc(messageBytes), 2)])).toEqual([]);
  });

  test('is tested every 60 ms', () => {
    const soon = swapped.subarray(0, 960);
    expect(follow(repeat(soon, 2))).toEqual([[180, 'swapped-bytes']]);
  });

  test('is reported even if other messages in between show nothing', () => {
    const messages = repeat(Buffer.alloc(messageBytes), 2);
    for (const at of [1, 5, 9, 13]) messages[at] = swapped;
    expect(follow(messages)).toEqual([[1_300, 'swapped-bytes']]);
  });

  test('makes the values of samples meaningless', () => {
    const wrong = Buffer.from(tone(3_000)).swap16();
    expect(findings([...repeat(wrong, 1), ...repeat(tone(3_000), 12)])).toEqual(['swapped-bytes']);
  });

  test.each([
    [2, 2_300],
    [3, 4_900],
    [6, 6_300],
    [12, 12_300],
    [30, 58_900],
  ])('that begins after %d s of noise is found at %d ms: each search waits longer', (seconds, at) => {
    expect(follow([...repeat(noise, seconds), ...repeat(swapped, 40)])).toEqual([[at, 'swapped-bytes']]);
  });

  test.each([
    ['a tone', tone(), 8_500],
    ['silence', Buffer.alloc(messageBytes), 8_500],
    ['a whisper', pcmOf(messageSamples, (index) => 400 * Math.sin(index / 5)), 7_300],
  ])('that begins after 7 s of %s is found without a rest', (_what, before, at) => {
    expect(follow([...repeat(before, 7), ...repeat(swapped, 8)])).toContainEqual([at, 'swapped-bytes']);
  });

  test('may change, and each one is reported once', () => {
    const shifted = Buffer.concat([Buffer.of(7), tone().subarray(1)]);
    expect(findings([...repeat(swapped, 4), ...repeat(shifted, 4), ...repeat(swapped, 4)])).toEqual([
      'swapped-bytes',
    ]);
  });
});

describe('of the first message', () => {
  const header = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(40)]);
  const json = Buffer.from(JSON.stringify({ audio: 'A1b2'.repeat(25) }));

  test('a WAV header is reported, and mistakes in the samples after it', () => {
    const first = Buffer.concat([header, tone().subarray(header.length)]);
    expect(follow([first, ...repeat(swapped, 2)])).toEqual([
      [0, 'riff-header'],
      [400, 'swapped-bytes'],
    ]);
    expect(findings([header, ...repeat(tone(3_000), 3)])).toEqual(['riff-header', 'dc-offset']);
  });

  test('text is reported, and has no other format', () => {
    expect(findings([json, ...repeat(swapped, 4)])).toEqual(['json']);
    expect(findings([json, ...repeat(tone(3_000), 3)])).toEqual(['json']);
  });

  test('a later message counts as samples, whatever its bytes', () => {
    expect(
      findings([...repeat(tone(), 0.3), header, ...repeat(tone(), 0.6), json, ...repeat(tone(), 2)]),
    ).toEqual([]);
  });
});

const bytes = (...values: number[]) => Buffer.from([...values, 0, 0, 0, 0]);
const letters = 'Abcdefghijklmnopqrstuvwxyz12345';

test.each([
  ['a WAV', Buffer.from('RIFF\u0000\u0000'), 'riff-header'],
  ['a WAV with 64-bit sizes', Buffer.from('BW64\u0000\u0000'), 'riff-header'],
  ['an Ogg', Buffer.from('OggS\u0000'), 'compressed'],
  ['a FLAC', Buffer.from('fLaC\u0000'), 'compressed'],
  ['an MP3 with tags', Buffer.from('ID3\u0004'), 'compressed'],
  ['a WebM', bytes(0x1a, 0x45, 0xdf, 0xa3), 'compressed'],
  ['an MP3', bytes(0xff, 0xfb), 'compressed'],
  ['an MP3 of 24 kHz', bytes(0xff, 0xf3), 'compressed'],
  ['an AAC', bytes(0xff, 0xf1), 'compressed'],
  ['an MP4', Buffer.from('\u0000\u0000\u0000\u0018ftypM4A '), 'compressed'],
  ['base64', Buffer.from(speechPcm.subarray(0, 640).toString('base64')), 'base64'],
  ['JSON with audio', Buffer.from(`{"audio":"${letters.repeat(4)}"}`), 'json'],
  ['JSON with a list of samples', Buffer.from(JSON.stringify({ audio: Array(320).fill(-1) })), 'json'],
  ['samples', speechPcm.subarray(0, 640), undefined],
  ['silence', Buffer.alloc(640), undefined],
  ['the second half of a header', Buffer.from('xRIFF'), undefined],
  ['nothing', Buffer.alloc(0), undefined],
])('a stream that begins with %s is %j', (_what, message, kind) => {
  expect(recogniseContainer(message as Buffer)).toBe(kind);
});
