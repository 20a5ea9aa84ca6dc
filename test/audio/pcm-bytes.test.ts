import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { pcmBytes } from '../../src/audio/pcm-bytes.ts';

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
