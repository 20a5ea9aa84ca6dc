import { expect, test } from 'vitest';
import { createNewest, estimateBytes } from '../../../src/service/state/newest.ts';

const texts = (maxItems: number, maxBytes: number) =>
  createNewest<string>({ maxItems, maxBytes, weigh: ({ length }) => length });

test('the newest items are remembered, oldest first, up to the bound on their number', () => {
  const newest = texts(3, 1_000);
  for (const item of 'abcdefghij') newest.add(item);
  expect(newest.list()).toEqual(['h', 'i', 'j']);
});

test('the items that are remembered weigh no more than the bound', () => {
  const newest = texts(1_000, 100);
  for (let i = 0; i < 50; i += 1) {
    newest.add(String(i).padStart(9, '0'));
    expect(newest.list().join('').length).toBeLessThanOrEqual(100);
  }
  expect(newest.list().at(-1)).toBe('000000049');
  expect(newest.list().length).toBeGreaterThanOrEqual(7);
});

test('the newest item is kept until the next one, even if it alone exceeds the bound', () => {
  const newest = texts(10, 100);
  newest.add('small');
  newest.add('x'.repeat(500));
  expect(newest.list()).toEqual(['x'.repeat(500)]);
  newest.add('next');
  expect(newest.list()).toEqual(['next']);
});

test('nothing is left after clearing, neither items nor their weight', () => {
  const newest = texts(10, 10);
  newest.add('123456789');
  newest.clear();
  expect(newest.list()).toEqual([]);
  newest.add('abcdefgh');
  newest.add('i');
  expect(newest.list()).toEqual(['abcdefgh', 'i']);
});

test.each<[string, unknown, number]>([
  ['a text', 'abc', 3],
  ['a number', 7, 0],
  ['null', null, 0],
  ['nothing', undefined, 0],
  ['an empty object', {}, 16],
  ['an object of two fields', { a: 'xy', b: 1 }, 16 + 16 + 2 + 16],
  ['an object within another', { a: { b: 'xyz' } }, 16 + 16 + 16 + 3],
  ['a field that is null', { a: null }, 16 + 16],
  ['a list', ['ab', 'c'], 16 + 16 + 2 + 16 + 1],
])('%s weighs about what it takes', (_what, value, bytes) => {
  expect(estimateBytes(value)).toBe(bytes);
});

test('a value nested more deeply than the stack is weighed too', () => {
  let value: object = {};
  for (let depth = 0; depth < 100_000; depth += 1) value = { value };
  expect(estimateBytes(value)).toBe(16 + 100_000 * 16);
});
