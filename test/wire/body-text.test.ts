import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bodyText } from '../../src/wire/body-text.ts';

const read = (encoding: string, body: Buffer) =>
  bodyText({ headers: [['Content-Encoding', encoding]], body });

test('a body in a known encoding is decoded', () => {
  expect(read('gzip', gzipSync('{"token":"t"}'))).toBe('{"token":"t"}');
});

test.each([...Object.getOwnPropertyNames(Object.prototype), 'zstd', ''])(
  'a body in the encoding %j is read as it is',
  (encoding) => {
    expect(read(encoding, Buffer.from('{"token":"t"}'))).toBe('{"token":"t"}');
  },
);
