import { expect, test } from 'vitest';
import { createTurnBuffer } from '../../../src/emulator/replies/turns.ts';

/** Two bytes a sample, 16 samples a millisecond; each sample is the millisecond that it belongs to. */
function numbered(fromMs: number, toMs: number): Buffer {
  const pcm = Buffer.alloc((toMs - fromMs) * 32);
  for (let at = 0; at < pcm.length / 2; at += 1) pcm.writeUInt16LE(fromMs + Math.floor(at / 16), at * 2);
  return pcm;
}

function filled(messageBytes: number) {
  const buffer = createTurnBuffer();
  const pcm = numbered(0, 3_000);
  for (let at = 0; at < pcm.length; at += messageBytes) buffer.push(pcm.subarray(at, at + messageBytes));
  return buffer;
}

test.each([2, 640, 5_000, 96_000])(
  'audio in messages of %i bytes can be read between two moments',
  (bytes) => {
    const buffer = filled(bytes);
    expect(buffer.slice(120, 480)).toEqual(numbered(120, 480));
    expect(buffer.slice(-100, 20)).toEqual(numbered(0, 20));
    expect(buffer.slice(2_900, 9_000)).toEqual(numbered(2_900, 3_000));
    expect(buffer.slice(500, 400)).toHaveLength(0);
  },
);

test('what is dropped is gone, and later audio keeps its place', () => {
  const buffer = filled(640);
  buffer.forgetBefore(32_000);
  expect(buffer.slice(0, 2_000)).toHaveLength(0);
  expect(buffer.slice(2_000, 3_000)).toEqual(numbered(2_000, 3_000));
  buffer.push(numbered(3_000, 3_100));
  expect(buffer.slice(2_950, 3_050)).toEqual(numbered(2_950, 3_050));
});
