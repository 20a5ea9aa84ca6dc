import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
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

const brotli = (plain: Buffer) =>
  brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const encoders: [encoding: string, encode: (plain: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotli],
  ['gzip, br', (plain) => brotli(gzipSync(plain))],
];

test.each(encoders)(
  'a small body in the encoding %s that grows beyond 2 MiB is not decoded',
  (encoding, encode) => {
    const most = Buffer.alloc(2 * 1024 * 1024, ' ');
    expect(read(encoding, encode(most))).toHaveLength(most.length);
    const bomb = encode(Buffer.concat([most, Buffer.from(' ')]));
    expect(read(encoding, bomb).length).toBeLessThanOrEqual(bomb.length);
  },
);
