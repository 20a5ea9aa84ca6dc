import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createWavFile } from '../../../src/audio/wav/wav-file.ts';
import { makeWavHeader } from '../../../src/audio/wav/wav-header.ts';
import { loadPcm } from '../../../src/audio/wav/wav-source.ts';
import { setUpTempFolder } from '../files.ts';

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

  test('that is discarded leaves no file', async () => {
    const path = files.path();
    const file = await createWavFile(path);
    await file.discard();
    expect(existsSync(path)).toBe(false);
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

  test('has a header of all but the last second while it is written', async () => {
    const path = files.path();
    const file = await createWavFile(path);
    for (let written = 640; written <= 96_000; written += 640) {
      await file.write(audio.subarray(0, 640));
      expect(written - declaredBytes(path)).toBeLessThan(32_000);
    }
    await file.close();
  });

  test('can be closed twice, and not written after', async () => {
    const file = await createWavFile(files.path());
    await Promise.all([file.close(), file.close()]);
    await expect(file.write(audio)).rejects.toMatchObject({ code: 'internal' });
  });

  test('refuses more than two minutes of audio that nobody waits for', async () => {
    const file = await createWavFile(files.path());
    const results = await Promise.allSettled(Array.from({ length: 60 }, () => file.write(audio)));
    expect(results.at(0)?.status).toBe('fulfilled');
    expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'input-output' } });
    await expect(file.close()).rejects.toMatchObject({ code: 'input-output' });
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

test.skipIf(!existsSync('/dev/full'))('a full device is reported', async () => {
  await expect(createWavFile('/dev/full')).rejects.toMatchObject({
    code: 'input-output',
    message: expect.stringMatching(/disk is full/),
  });
});
