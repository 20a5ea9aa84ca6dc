import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { openRawFile, openRawStream } from '../../src/audio/raw-source.ts';
import { collect, cut, setUpTempFolder } from './files.ts';
import { wav } from './wav/wav-bytes.ts';

const files = setUpTempFolder();
const audio = Buffer.from(Array.from({ length: 6_400 }, (_, i) => i % 251));

test('a headerless file passes byte for byte', async () => {
  const source = await openRawFile(files.write(audio));
  expect(source).toMatchObject({ durationMs: 200, repeatable: true });
  expect(source.description).toMatchObject({ converted: false, text: '16,000 Hz, 16-bit, mono' });
  expect((await collect(source.read())).equals(audio)).toBe(true);
  expect((await collect(source.read())).equals(audio)).toBe(true);
});

test('an odd last byte is dropped', async () => {
  const source = await openRawFile(files.write(audio.subarray(0, 641)));
  expect(source.durationMs).toBe(20);
  expect((await collect(source.read())).equals(audio.subarray(0, 640))).toBe(true);
});

test.each([1, 3, 640, 100_000])('a stream in pieces of %i bytes passes byte for byte', async (size) => {
  const source = await openRawStream(Readable.from(cut(audio, size)));
  expect(source).toMatchObject({ durationMs: undefined, repeatable: false });
  expect((await collect(source.read())).equals(audio)).toBe(true);
});

test.each(['RIFF', 'RF64', 'BW64'])('a WAV of form %s is refused, with the flag to use', async (form) => {
  const file = wav(audio);
  file.write(form);
  const refusal = {
    code: 'bad-input',
    message: expect.stringMatching(/is a WAV file/),
    hint: expect.stringMatching(/--file/),
  };
  await expect(openRawFile(files.write(file))).rejects.toMatchObject(refusal);
  await expect(openRawStream(Readable.from(cut(file, 1)))).rejects.toMatchObject(refusal);
});

test.each([0, 1])('%i bytes are not audio', async (length) => {
  await expect(openRawFile(files.write(audio.subarray(0, length)))).rejects.toMatchObject({
    code: 'bad-input',
  });
  await expect(openRawStream(Readable.from(cut(audio.subarray(0, length), 1)))).rejects.toMatchObject({
    code: 'bad-input',
  });
});

test('a missing file is refused', async () => {
  await expect(openRawFile(files.path('missing'))).rejects.toMatchObject({ code: 'bad-input' });
});
