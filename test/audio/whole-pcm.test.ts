import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { openRawFile, openRawStream } from '../../src/audio/raw-source.ts';
import { convertToPcm, pcmBytes } from '../../src/audio/whole-pcm.ts';
import { setUpTempFolder } from './files.ts';

const files = setUpTempFolder();
const second = Buffer.alloc(32_000, 3);

test('a whole source becomes one buffer', async () => {
  expect((await convertToPcm(await openRawFile(files.write(second)))).equals(second)).toBe(true);
  expect((await convertToPcm(await openRawFile(files.write(second)), { maxMs: 1_000 })).length).toBe(32_000);
});

test('a file that is too long is refused before it is read', async () => {
  const source = { ...(await openRawFile(files.write(second))), read: () => expect.fail('was read') };
  await expect(convertToPcm(source, { maxMs: 999 })).rejects.toMatchObject({ code: 'bad-input' });
});

test('an endless stream is refused at the limit, and closed', async () => {
  const stream = Readable.from(
    (function* () {
      for (;;) yield second;
    })(),
  );
  const source = await openRawStream(stream);
  await expect(convertToPcm(source, { maxMs: 5_000 })).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringMatching(/longer than 5 s/),
  });
  expect(stream.destroyed).toBe(true);
});

test.each([
  ['a Buffer', Buffer.of(1, 2)],
  ['a part of a Uint8Array', new Uint8Array([0, 1, 2, 3]).subarray(1, 3)],
  ['samples', new Int16Array([0x0201])],
  ['an array of another realm', runInNewContext('new Uint8Array([1, 2])')],
])('%s is PCM', (_name, pcm) => {
  expect(pcmBytes(pcm)).toEqual(Buffer.of(1, 2));
});

test.each([
  ['hello.wav', 'String'],
  [new Float32Array(2), 'Float32Array'],
  [new ArrayBuffer(2), 'ArrayBuffer'],
  [undefined, 'Undefined'],
])('%s is not', (value, kind) => {
  expect(() => pcmBytes(value as never)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: `PCM must be a Buffer, Uint8Array or Int16Array, not ${kind}`,
    }),
  );
});
