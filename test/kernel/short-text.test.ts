import { expect, test } from 'vitest';
import { shortText } from '../../src/kernel/short-text.ts';

test('a text of at most 200 characters stays as it is', () => {
  expect(shortText('')).toBe('');
  expect(shortText('ä'.repeat(200))).toBe('ä'.repeat(200));
});

test('a longer one is cut, whatever it is made of, and says so', () => {
  expect(shortText('ä'.repeat(201))).toBe(`${'ä'.repeat(200)}…`);
  expect(shortText(`\ud800${'x'.repeat(300)}`)).toBe(`\ud800${'x'.repeat(199)}…`);
});
