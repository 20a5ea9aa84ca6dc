import { expect, test } from 'vitest';
import { estimateBytes } from '../../../src/service/state/estimate-bytes.ts';

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
