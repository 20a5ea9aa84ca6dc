import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createWavFile } from '../../../src/audio/wav/wav-file.ts';
import { makeWavHeader } from '../../../src/audio/wav/wav-header.ts';
import { loadPcm } from '../../../src/audio/wav/wav-source.ts';
import { bytesForMs } from '../../../src/protocol/audio-format.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { hasTools, setUpTempFolder } from '../files.ts';

const files = setUpTempFolder();
const audio = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 251));
const declaredBytes = (path: string) => readFileSync(path).readUInt32LE(40);

describe('a recording', () => {
  test.each([[[640]], [[1]], [[3, 641, 2]], [[100_000]]])(
    'written in pieces of %j bytes reads back byte for byte',
    async (sizes) => {
      const path = files.path();
      const file = await createWavFile(path);
      const bytes = audio.subarray(0, sizes[0] === 1 ? 2_000 : audio.length);
      for (let offset = 0, i = 0; offset < bytes.length; i += 1) {
        const size = sizes[i % sizes.length]!;
        await file.write(bytes.subarray(offset, offset + size));
        offset += size;
      }
      await file.close();
      expect(statSync(path).size).toBe(44 + bytes.length);
      expect(declaredBytes(path)).toBe(bytes.length);
      expect((await loadPcm(path)).equals(bytes)).toBe(true);
    },
  );

  test('keeps the order of writes that are not awaited', async () => {
    const path = files.path();
    const file = await createWavFile(path);
    const writes = [0, 1, 2, 3].map((i) => file.write(audio.subarray(i * 1001, (i + 1) * 1001)));
    await Promise.all([...writes, file.close()]);
    expect((await loadPcm(path)).equals(audio.subarray(0, 4004))).toBe(true);
  });

  test('without audio is a valid, empty WAV', async () => {
    const path = files.path();
    await (await createWavFile(path)).close();
    expect(readFileSync(path).toString('latin1')).toMatch(/^RIFF\x24\0\0\0WAVEfmt .*data\0\0\0\0$/s);
  });

  test('drops half a sample at its end', async () => {
    const path = files.path();
    const file = await createWavFile(path);
    await file.write(audio.subarray(0, 641));
    await file.close();
    expect(statSync(path).size).toBe(44 + 640);
    expect(declaredBytes(path)).toBe(640);
  });

  test('replaces a longer file', async () => {
    const path = files.write(Buffer.alloc(1_000_000, 1));
    const file = await createWavFile(path);
    await file.write(audio.subarray(0, 640));
    await file.close();
    expect(statSync(path).size).toBe(684);
  });

  test('has a header that covers all but the last second while it is being written', async () => {
    const path = files.path();
    const file = await createWavFile(path);
    for (let written = 640; written <= 96_000; written += 640) {
      await file.write(audio.subarray(0, 640));
      expect(written - declaredBytes(path)).toBeLessThan(32_000);
    }
    await file.close();
  });

  test('has a header that covers all but the last second after one large write', async () => {
    const path = files.path();
    const file = await createWavFile(path);
    await file.write(audio);
    expect(declaredBytes(path)).toBeGreaterThan(audio.length - 32_000);
    await file.close();
  });

  test('that is private is only for the user, and replaces nothing', async () => {
    const path = files.path();
    await (await createWavFile(path, { isPrivate: true })).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(createWavFile(path, { isPrivate: true })).rejects.toMatchObject({ code: 'input-output' });
    await (await createWavFile(path)).close();
  });

  test('can be closed twice, but not written afterwards', async () => {
    const file = await createWavFile(files.path());
    await Promise.all([file.close(), file.close()]);
    await expect(file.write(audio)).rejects.toMatchObject({
      code: 'internal',
      message: `${file.path} is already closed`,
    });
  });

  test('takes minutes of audio at once, whether they are awaited or not', async () => {
    const file = await createWavFile(files.path());
    await Promise.all(Array.from({ length: 60 }, () => file.write(audio)));
    await file.close();
    expect(readFileSync(file.path).length).toBe(44 + 60 * audio.length);
  });

  test('refuses audio while some has waited for the disk for two minutes', async () => {
    const clock = createManualClock();
    const file = await createWavFile(files.path(), { clock });
    const first = file.write(audio);
    // The first has begun to wait for the disk.
    await Promise.resolve();
    clock.advance(120_000);
    const second = file.write(audio);
    clock.advance(1);
    await expect(file.write(audio)).rejects.toMatchObject({ code: 'input-output' });
    await Promise.all([first, second]);
    await expect(file.close()).rejects.toMatchObject({
      code: 'input-output',
      message: `Cannot write ${file.path}: the disk is slower than the audio`,
    });
  });

  test('takes more than two minutes if each write is awaited', async () => {
    const file = await createWavFile(files.path());
    const long = Buffer.alloc(bytesForMs(120_000) + 2);
    await file.write(long);
    await file.write(audio);
    await file.close();
    const written = readFileSync(file.path).subarray(44);
    expect(written.equals(Buffer.concat([long, audio]))).toBe(true);
    expect(declaredBytes(file.path)).toBe(written.length);
  });
});

describe.skipIf(!hasTools('mkfifo'))('a named pipe', () => {
  /** A pipe and its only reader, which does not block. */
  function makePipe() {
    const path = files.path();
    execFileSync('mkfifo', [path]);
    const openReader = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { path, openReader };
  }
  const received = (reader: number) => {
    const bytes = Buffer.alloc(10_000);
    return bytes.subarray(0, readSync(reader, bytes));
  };

  test('gets one header for a stream of any length', async () => {
    const { path, openReader } = makePipe();
    const reader = openReader();
    const file = await createWavFile(path);
    await file.write(audio.subarray(0, 640));
    await file.close();
    const bytes = received(reader);
    expect([bytes.length, bytes.readUInt32LE(40)]).toEqual([44 + 640, 0xffffffff]);
    closeSync(reader);
  });

  test('whose reader went away gets nothing more, even if another one comes', async () => {
    const { path, openReader } = makePipe();
    const first = openReader();
    const file = await createWavFile(path);
    closeSync(first);
    const failure = { code: 'input-output', message: expect.stringMatching(/nobody is reading/) };
    await expect(file.write(audio.subarray(0, 640))).rejects.toMatchObject(failure);
    const second = openReader();
    await expect(file.write(audio.subarray(0, 640))).rejects.toMatchObject(failure);
    await expect(file.close()).rejects.toMatchObject(failure);
    // The header alone, which nobody had read.
    expect(received(second).length).toBe(44);
    closeSync(second);
  });
});

test('sizes beyond 4 GiB are clamped', () => {
  const header = makeWavHeader(
    { encoding: 'pcm', sampleRate: 16_000, channels: 1, bitsPerSample: 16 },
    2 ** 33,
  );
  expect([header.readUInt32LE(4), header.readUInt32LE(40)]).toEqual([0xffffffff, 0xffffffff]);
});

test.each([
  ['in a folder that is not there', files.path('no/such/file.wav'), /its folder does not exist/],
  ['in place of a folder', files.path('.'), /it is a folder/],
])('%s cannot be created', async (_name, path, reason) => {
  await expect(createWavFile(path)).rejects.toMatchObject({
    code: 'input-output',
    message: expect.stringMatching(reason),
  });
});

test.skipIf(!existsSync('/proc/self'))('a folder that takes no files is not called missing', async () => {
  await expect(createWavFile('/proc/no-such-file.wav')).rejects.toMatchObject({
    code: 'input-output',
    message: 'Cannot write /proc/no-such-file.wav: its folder takes no new files',
  });
});

test.skipIf(!existsSync('/dev/full'))('a full device is reported', async () => {
  await expect(createWavFile('/dev/full')).rejects.toMatchObject({
    code: 'input-output',
    message: expect.stringMatching(/disk is full/),
  });
});
