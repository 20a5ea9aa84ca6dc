import { expect, test } from 'vitest';
import { didYouMean, suggestName } from '../../src/protocol/suggestion.ts';

const known = ['close', 'mute', 'token-redirect', 'ab'];

test.each([
  ['clos', 'close'],
  ['colse', 'close'],
  ['cl', undefined],
  ['mut', 'mute'],
  ['mu', undefined],
  ['moot', undefined],
  ['muet', 'mute'],
  ['ba', 'ab'],
  ['esolc', 'close'],
  ['xyz', undefined],
  ['abc', 'ab'],
  ['tken-rdirct', 'token-redirect'],
  ['tken-rdrct', undefined],
])('%j means %j', (written, meant) => {
  expect(suggestName(written, known)).toBe(meant);
});

test('a message suggests the name that was probably meant, or nothing', () => {
  expect(didYouMean('clos', known)).toBe(', did you mean close?');
  expect(didYouMean('x', known)).toBe('');
});
