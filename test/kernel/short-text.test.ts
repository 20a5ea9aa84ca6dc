import { expect, test } from 'vitest';
import { shortText } from '../../src/kernel/short-text.ts';

test('a text of at most 200 characters is unchanged', () => {
  expect(shortText('')).toBe('');
  expect(shortText('ä'.repeat(200))).toBe('ä'.repeat(200));
});

test('a longer one is cut, whatever its characters, and ends with an ellipsis', () => {
  expect(shortText('ä'.repeat(201))).toBe(`${'ä'.repeat(200)}…`);
  expect(shortText(`\ud800${'x'.repeat(300)}`)).toBe(`\ud800${'x'.repeat(199)}…`);
});

test('no character is cut in two', () => {
  expect(shortText(`${'a'.repeat(199)}😀`)).toBe(`${'a'.repeat(199)}…`);
});
