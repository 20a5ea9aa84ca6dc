import { expect, test } from 'vitest';
import { isNestedWithin } from '../../src/protocol/parse-json.ts';

const lists = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;

test.each([
  ['a text', 'x', 0, true],
  ['null', null, 0, true],
  ['an empty object', {}, 0, false],
  ['an empty object', {}, 1, true],
  ['two lists', lists(2), 1, false],
  ['two lists', lists(2), 2, true],
  ['a deep part beside a flat one', { flat: 1, deep: { deeper: {} }, last: 'x' }, 2, false],
  ['a deep part beside a flat one', { flat: 1, deep: { deeper: {} }, last: 'x' }, 3, true],
])('%s within %i levels: %j', (_what, value, most, isWithin) => {
  expect(isNestedWithin(value, most)).toBe(isWithin);
});

test('any depth is detected, without recursion', () => {
  expect(isNestedWithin(lists(5_000), 4_999)).toBe(false);
  expect(isNestedWithin(lists(5_000), 5_000)).toBe(true);
});
