import { describe, expect, test } from 'vitest';
import { createBlockJoiner, reframe, wholeSamples } from '../../src/audio/blocks.ts';
import { cut } from './files.ts';

const bytes = (...values: number[]) => Buffer.from(values);

describe('a joiner of blocks', () => {
  test('passes whole samples on unchanged, without a copy', () => {
    const chunk = bytes(1, 2, 3, 4);
    expect(createBlockJoiner().push(chunk)).toBe(chunk);
  });

  test('carries half a sample to the next chunk', () => {
    const joiner = createBlockJoiner();
    const out = [bytes(1), bytes(2, 3), bytes(), bytes(4, 5, 6), bytes(7, 8)].map((chunk) =>
      joiner.push(chunk),
    );
    expect(out).toEqual([bytes(), bytes(1, 2), bytes(), bytes(3, 4, 5, 6), bytes(7, 8)]);
  });

  test('joins blocks of any size, even from many chunks', () => {
    const joiner = createBlockJoiner(6);
    const out = [bytes(1, 2), bytes(3, 4, 5), bytes(6, 7), bytes(8, 9, 10, 11, 12)].map((chunk) =>
      joiner.push(chunk),
    );
    expect(out).toEqual([bytes(), bytes(), bytes(1, 2, 3, 4, 5, 6), bytes(7, 8, 9, 10, 11, 12)]);
  });

  test('keeps the remainder even if the buffer of the chunk is reused', () => {
    const joiner = createBlockJoiner();
    const chunk = bytes(1, 2, 3);
    joiner.push(chunk);
    chunk.fill(0);
    expect(joiner.push(bytes(4))).toEqual(bytes(3, 4));
  });

  test('starts again after it was cleared', () => {
    const joiner = createBlockJoiner();
    joiner.push(bytes(1));
    joiner.clear();
    expect(joiner.push(bytes(2, 3))).toEqual(bytes(2, 3));
  });
});

test('a stream of chunks becomes whole samples, without a half at its end', async () => {
  const chunks = async function* () {
    yield* [bytes(1), bytes(2, 3), bytes(4), bytes(5)];
  };
  const found: Buffer[] = [];
  for await (const chunk of wholeSamples(chunks())) found.push(chunk);
  expect(found).toEqual([bytes(1, 2), bytes(3, 4)]);
});

const audio = Buffer.from(Array.from({ length: 2_000 }, (_, i) => 1 + (i % 250)));

async function frames(bytes: Buffer, frameBytes: number, ...sizes: number[]): Promise<Buffer[]> {
  const result: Buffer[] = [];
  for await (const frame of reframe(cut(bytes, ...sizes), frameBytes)) result.push(frame);
  return result;
}

describe.each([[[1]], [[7]], [[640]], [[641]], [[3, 1_000, 1]], [[5_000]]])(
  'of chunks of %j bytes',
  (sizes) => {
    test('every frame is whole, and the last is padded with silence', async () => {
      const result = await frames(audio, 640, ...sizes);
      expect(result.map((frame) => frame.length)).toEqual([640, 640, 640, 640]);
      const joined = Buffer.concat(result);
      expect(joined.subarray(0, 2_000).equals(audio)).toBe(true);
      expect(joined.subarray(2_000).every((byte) => byte === 0)).toBe(true);
    });

    test('audio that fits exactly is not padded', async () => {
      expect(await frames(audio, 500, ...sizes)).toHaveLength(4);
    });
  },
);

test('empty chunks are skipped, and an empty input gives no frames', async () => {
  const chunks = async function* () {
    yield Buffer.alloc(0);
    yield Buffer.from([1]);
    yield Buffer.alloc(0);
  };
  const result: Buffer[] = [];
  for await (const frame of reframe(chunks(), 4)) result.push(frame);
  expect(result).toEqual([Buffer.from([1, 0, 0, 0])]);
  expect(await frames(Buffer.alloc(0), 640, 1)).toEqual([]);
});

test('returned frames do not change when more audio comes', async () => {
  const seen: Buffer[] = [];
  const copies: Buffer[] = [];
  for await (const frame of reframe(cut(audio, 3, 700, 11), 100)) {
    seen.push(frame);
    copies.push(Buffer.from(frame));
  }
  expect(seen).toEqual(copies);
});

test('leaving early closes the source', async () => {
  let ended = false;
  const chunks = async function* () {
    try {
      for (;;) yield audio;
    } finally {
      ended = true;
    }
  };
  for await (const _frame of reframe(chunks(), 640)) break;
  expect(ended).toBe(true);
});

test.each([0, -1, 1.5, Number.NaN])('frames of %d bytes are refused', async (frameBytes) => {
  await expect(frames(audio, frameBytes, 1)).rejects.toThrow(RangeError);
});
