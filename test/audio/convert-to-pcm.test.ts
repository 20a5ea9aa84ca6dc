import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { convertToPcm } from '../../src/audio/convert-to-pcm.ts';
import { openRawFile, openRawStream } from '../../src/audio/raw-source.ts';
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
