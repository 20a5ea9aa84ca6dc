import { expect, test } from 'vitest';
import { createAcceptedKeys } from '../../../src/emulator/tokens/token-endpoint.ts';

test('any key is accepted if none is given', () => {
  expect(createAcceptedKeys([])('anything')).toBe(true);
});

test.each([
  ['one', true],
  ['two', true],
  ['One', false],
  ['one ', false],
  ['', false],
  ['onetwo', false],
])('of the keys "one" and "two", %j is accepted: %s', (key, accepted) => {
  expect(createAcceptedKeys(['one', 'two'])(key)).toBe(accepted);
});
