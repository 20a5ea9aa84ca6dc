import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { openWavFile, openWavStream, probeWav } from '../../../src/audio/wav/wav-source.ts';
import { type ByteInput, createStreamInput } from '../../../src/files/byte-input.ts';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { collect, cut, setUpTempFolder } from '../files.ts';
import { createRandom } from '../tone.ts';
import { chunk, ds64, extensibleBody, formatBody, riff, tags, wav } from './wav-bytes.ts';

const files = setUpTempFolder();
const audio = Buffer.from(Array.from({ length: 640 }, (_, i) => (i * 37) % 251));
const fmt = chunk('fmt ', formatBody());
const data = chunk('data', audio);
const odd = Buffer.from('odd');
const none = Buffer.alloc(0);

const readable: [string, Buffer][] = [
  ['the plainest header', wav(audio)],
  ['a format chunk of 18 bytes', riff([chunk('fmt ', Buffer.concat([formatBody(), Buffer.alloc(2)])), data])],
  ['an extensible format', riff([chunk('fmt ', extensibleBody()), data])],
  ['a LIST before the format', riff([chunk('LIST', Buffer.from('INFOabcd')), fmt, data])],
  ['an odd LIST before the audio', riff([fmt, chunk('LIST', odd), data])],
  ['an odd LIST without its padding', riff([fmt, chunk('LIST', odd, { pad: none }), data])],
  ['an odd LIST padded with something', riff([fmt, chunk('LIST', odd, { pad: Buffer.from('x') }), data])],
  [
    'JUNK and bext before the format',
    riff([chunk('JUNK', Buffer.alloc(28)), chunk('bext', Buffer.alloc(602)), fmt, data]),
  ],
  ['an empty chunk', riff([chunk('PAD ', none), fmt, chunk('what', none), data])],
  ['a fact chunk', riff([fmt, chunk('fact', Buffer.alloc(4)), data])],
  ['chunks after the audio', riff([fmt, data, chunk('LIST', Buffer.from('INFOabcd'))])],
  ['zeros after the audio', Buffer.concat([riff([fmt, data]), Buffer.alloc(1000)])],
  ['a data size of 0', riff([fmt, chunk('data', audio, { size: 0 })])],
  ['a data size of 0xFFFFFFFF', riff([fmt, chunk('data', audio, { size: 0xffffffff })])],
  ['the data size of the wav package', riff([fmt, chunk('data', audio, { size: 4_294_967_195 })])],
  ['the data size of a sox pipe', riff([fmt, chunk('data', audio, { size: 0x7ffff000 })])],
  ['a data size beyond the end', riff([fmt, chunk('data', audio, { size: 1_000_000 })])],
  ['a wrong RIFF size', riff([fmt, data], { size: 3 })],
  [
    'RF64 with 64-bit sizes',
    riff([ds64(640n), fmt, chunk('data', audio, { size: 0xffffffff }), chunk('LIST', audio)], {
      form: 'RF64',
      size: 0xffffffff,
    }),
  ],
  [
    'RF64 with sizes never filled in',
    riff([ds64(0n), fmt, chunk('data', audio, { size: 0xffffffff })], { form: 'RF64' }),
  ],
  ['BW64', riff([ds64(640n), fmt, chunk('data', audio, { size: 0xffffffff })], { form: 'BW64' })],
  [
    'half a sample at the end',
    riff([fmt, chunk('data', Buffer.concat([audio, odd.subarray(0, 1)]), { pad: none })]),
  ],
  ['a second audio chunk, which is not read', riff([fmt, data, data])],
];

describe.each(readable)('a WAV with %s', (_name, bytes) => {
  test('is read from a file', async () => {
    const source = await openWavFile(files.write(bytes));
    expect((await collect(source.read())).equals(audio)).toBe(true);
    expect(source.durationMs).toBe(20);
  });

  test('is read from a stream, byte by byte', async () => {
    const source = await openWavStream(Readable.from(cut(bytes, 1)));
    expect((await collect(source.read())).equals(audio)).toBe(true);
  });
});

test('a format after the audio is found in a file', async () => {
  const source = await openWavFile(files.write(riff([data, chunk('LIST', odd), fmt])));
  expect((await collect(source.read())).equals(audio)).toBe(true);
});

test('a format after the audio is refused in a stream', async () => {
  await expect(openWavStream(Readable.from([riff([data, fmt])]))).rejects.toThrow(
    /format comes after its audio/,
  );
});

test('a stream is probed without reading into the audio', async () => {
  const chunks = [riff([fmt, chunk('data', none, { size: 1_000_000 })]), audio, audio];
  let taken = 0;
  const stream = Readable.from(
    (async function* () {
      for (const bytes of chunks) {
        taken += 1;
        yield bytes;
      }
    })(),
    { highWaterMark: 1 },
  );
  const layout = await probeWav(createStreamInput(stream, 'pipe'));
  expect(layout).toMatchObject({ dataOffset: 44, dataBytes: 1_000_000 });
  expect(taken).toBeLessThan(chunks.length);
});

const format = (values: Parameters<typeof formatBody>[0]) => riff([chunk('fmt ', formatBody(values)), data]);

const damaged: [string, Buffer, RegExp][] = [
  ['nothing at all', none, /it is empty/],
  ['4 bytes', Buffer.from('RIFF'), /ends within its header/],
  ['11 bytes', wav(audio).subarray(0, 11), /ends within its header/],
  ['12 bytes', wav(audio).subarray(0, 12), /ends within its header/],
  ['a header cut in the format', wav(audio).subarray(0, 30), /ends within its header/],
  ['a header cut in the name of the audio chunk', wav(audio).subarray(0, 38), /no audio/],
  ['text', Buffer.from('this is not audio, it is a text'), /not a WAV file/],
  ['an MP3', Buffer.from('ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00'), /an MP3 file, not a WAV/],
  ['an Ogg file', Buffer.from('OggS\x00\x02\x00\x00\x00\x00\x00\x00'), /an Ogg file/],
  ['a FLAC file', Buffer.from('fLaC\x00\x00\x00\x22\x10\x00\x10\x00'), /a FLAC file/],
  ['an MP4 file', Buffer.from('\x00\x00\x00\x18ftypM4A \x00\x00'), /an MP4 file/],
  ['a big-endian WAV', riff([fmt, data], { form: 'RIFX' }), /big-endian/],
  ['an AVI', riff([fmt, data], { type: 'AVI ' }), /not a WAV file/],
  ['no chunks for audio', riff([fmt, chunk('LIST', audio)]), /no audio \(no "data" chunk\)/],
  [
    'a format chunk of 14 bytes',
    riff([chunk('fmt ', formatBody().subarray(0, 14)), data]),
    /14 bytes; 16 are needed/,
  ],
  ['a format chunk of 0 bytes', riff([chunk('fmt ', none), data]), /0 bytes; 16 are needed/],
  ['0 channels', format({ channels: 0 }), /0 channels/],
  ['a rate of 0', format({ rate: 0 }), /says 0 Hz/],
  ['a rate of 999 Hz', format({ rate: 999 }), /999 Hz; 1,000 to 384,000 Hz can be read/],
  ['a rate of 4 GHz', format({ rate: 4_000_000_000 }), /4,000,000,000 Hz/],
  ['blocks of the wrong size', format({ channels: 2, blockBytes: 2 }), /contradicts itself/],
  ['blocks of 0 bytes', format({ blockBytes: 0 }), /contradicts itself/],
  ['12-bit samples', format({ bits: 12, blockBytes: 2 }), /12-bit samples/],
  ['0-bit samples', format({ bits: 0, blockBytes: 2 }), /0-bit samples/],
  ['64-bit integers', format({ bits: 64 }), /64-bit samples; only 8, 16, 24, 32 are supported/],
  ['16-bit floats', format({ tag: 3, bits: 16 }), /16-bit samples; only 32, 64 are supported/],
  ['Microsoft ADPCM', format({ tag: 2, bits: 4, blockBytes: 256 }), /Microsoft ADPCM \(codec 0x0002\)/],
  ['IMA ADPCM', format({ tag: 0x11, bits: 4, blockBytes: 256 }), /IMA ADPCM \(codec 0x0011\)/],
  ['GSM', format({ tag: 0x31, bits: 0, blockBytes: 65 }), /GSM 6\.10 \(codec 0x0031\)/],
  ['MP3 in a WAV', format({ tag: 0x55, bits: 0, blockBytes: 1 }), /MP3 \(codec 0x0055\)/],
  ['a codec that nobody knows', format({ tag: 0x1234 }), /codec 0x1234/],
  [
    'an extensible format cut short',
    riff([chunk('fmt ', extensibleBody().subarray(0, 18)), data]),
    /18 bytes; 40 are needed/,
  ],
  [
    'an extensible format of an unknown kind',
    riff([chunk('fmt ', extensibleBody({}, Buffer.alloc(14, 7))), data]),
    /unknown sub-format/,
  ],
  [
    'an extensible format with a codec',
    riff([chunk('fmt ', extensibleBody({ tag: 0x2000 })), data]),
    /Dolby AC-3 \(codec 0x2000\)/,
  ],
  ['no samples', riff([fmt, chunk('data', none)]), /its length is zero/],
  [
    'no samples but a LIST',
    riff([fmt, chunk('data', none), chunk('LIST', Buffer.alloc(64))]),
    /its length is zero/,
  ],
  ['half a sample', riff([fmt, chunk('data', odd.subarray(0, 1))]), /its length is zero/],
  [
    'empty chunks without end',
    riff([fmt, ...Array.from({ length: 20_000 }, () => chunk('what', none))]),
    /no audio/,
  ],
];

describe.each(damaged)('a file of %s', (_name, bytes, reason) => {
  test('is refused with a reason', async () => {
    const path = files.write(bytes);
    const failure = await openWavFile(path).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(VoicectlError);
    expect(failure).toMatchObject({ code: 'bad-input', message: expect.stringMatching(reason) });
    expect(failure).toHaveProperty('message', expect.stringContaining(path));
  });

  test('is also refused as a stream', async () => {
    const failure = await openWavStream(Readable.from(cut(bytes, 5))).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'bad-input', message: expect.stringMatching(reason) });
  });
});

/** A file of so many bytes that begins like this, and the places that were read. */
function fileOf(start: Buffer, sizeBytes: number) {
  const reads: { offset: number; length: number }[] = [];
  const input: ByteInput = {
    name: 'large.wav',
    sizeBytes,
    async read(offset, length) {
      reads.push({ offset, length });
      return start.subarray(offset, offset + length);
    },
    async *chunks() {},
    async close() {},
  };
  return { input, reads };
}

const giB = 2 ** 30;
const sizedData = (size: number) => chunk('data', none, { size });

test.each([
  [0x7fff_efff, 0x7fff_effe],
  [0x7fff_f000, 'the rest'],
  [0x8000_0000, 'the rest'],
  [0x8000_0002, 0x8000_0002],
  [0xffff_fefe, 0xffff_fefe],
  [0xffff_ff00, 'the rest'],
  [0xffff_ffff, 'the rest'],
])('a declared size of %d bytes in a file of 8 GiB means %s', async (size, wanted) => {
  const { input } = fileOf(riff([fmt, sizedData(size)]), 8 * giB);
  const { dataBytes, dataOffset } = await probeWav(input);
  expect(dataBytes).toBe(wanted === 'the rest' ? 8 * giB - dataOffset : wanted);
});

describe('the 64-bit size of RF64', () => {
  const longSize = (bytes: bigint, length = 28) => chunk('ds64', ds64(bytes).subarray(8, 8 + length));

  test.each<[string, Buffer, number, number | 'the rest']>([
    ['counts where the other says so', longSize(5n * BigInt(giB)), 0xffffffff, 5 * giB],
    ['needs no more than its 16 bytes', longSize(5n * BigInt(giB), 16), 0xffffffff, 5 * giB],
    ['does not count where the other has one', longSize(5n * BigInt(giB)), 640, 640],
    ['is not taken from fewer bytes', longSize(5n * BigInt(giB), 14), 0xffffffff, 'the rest'],
    ['may be missing', none, 0xffffffff, 'the rest'],
    ['of 0 is none', longSize(0n), 0xffffffff, 'the rest'],
    ['beyond what can be counted is none', longSize(2n ** 60n), 0xffffffff, 'the rest'],
  ])('%s', async (_name, before, size, wanted) => {
    const { input } = fileOf(riff([before, fmt, sizedData(size)], { form: 'RF64' }), 8 * giB);
    const { dataBytes, dataOffset } = await probeWav(input);
    expect(dataBytes).toBe(wanted === 'the rest' ? 8 * giB - dataOffset : wanted);
  });
});

test('only what matters of a chunk is read, whatever size it declares', async () => {
  const huge = Buffer.from(ds64(640n));
  huge.writeUInt32LE(100_000_000, 4);
  const { input, reads } = fileOf(riff([fmt, huge]), 200_000_000);
  await expect(probeWav(input)).rejects.toThrow(/no audio/);
  expect(Math.max(...reads.map(({ length }) => length))).toBeLessThanOrEqual(40);
});

test('nothing after the audio is read once the format is known', async () => {
  const { input, reads } = fileOf(wav(audio), 1_000_000);
  await probeWav(input);
  expect(Math.max(...reads.map(({ offset }) => offset))).toBeLessThanOrEqual(44);
});

test('an endless row of empty chunks is given up', async () => {
  const { input, reads } = fileOf(riff([]), 8 * giB);
  const read = input.read;
  input.read = async (offset, length) => {
    if (reads.length > 10_000) throw new Error('it is');
    const bytes = await read(offset, length);
    return offset < 12 ? bytes : chunk('what', none);
  };
  await expect(probeWav(input)).rejects.toThrow(/ends within its header/);
});

test('an unknown file gets a hint about samples without a header', async () => {
  await expect(openWavFile(files.write(Buffer.from('neither text nor audio')))).rejects.toMatchObject({
    hint: expect.stringMatching(/--raw/),
  });
});

test('audio without any format is refused', async () => {
  await expect(openWavFile(files.write(riff([data])))).rejects.toThrow(/no "fmt " chunk/);
});

test('an unknown codec comes with a line that converts it', async () => {
  const failure = await openWavFile(files.write(format({ tag: 2, bits: 4 }))).catch(
    (error: unknown) => error,
  );
  expect(failure).toHaveProperty('hint', expect.stringMatching(/ffmpeg .* -ar 16000 -ac 1/));
});

test('a randomly damaged header is either read or refused', async () => {
  const random = createRandom(7);
  const whole = riff([
    chunk('fmt ', extensibleBody({ tag: tags.float, bits: 32, channels: 2 })),
    chunk('LIST', odd),
    data,
  ]);
  for (let round = 0; round < 600; round += 1) {
    const bytes = Buffer.from(whole.subarray(0, round % 3 === 0 ? Math.floor(random() * 120) : whole.length));
    for (let hits = 0; hits < 1 + (round % 5); hits += 1) {
      const at = Math.floor(random() * Math.min(bytes.length, 100));
      if (at < bytes.length) bytes[at] = random() < 0.3 ? 0xff : Math.floor(random() * 256);
    }
    try {
      const source = await openWavStream(Readable.from([bytes]));
      expect((await collect(source.read())).length % 2).toBe(0);
    } catch (error) {
      expect(error).toMatchObject({ code: 'bad-input' });
    }
  }
});

test('no samples but a chunk of another kind are no audio', async () => {
  const file = files.write(riff([fmt, chunk('data', none), chunk('iXML', Buffer.alloc(64))]));
  await expect(openWavFile(file)).rejects.toThrow('its length is zero');
});
