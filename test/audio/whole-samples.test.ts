import { describe, expect, test } from 'vitest';
import { createBlockJoiner, wholeSamples } from '../../src/audio/whole-samples.ts';

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
