import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { cutTo, padStartTo, padTo, steady, widthOf } from '../../src/ui/cells.ts';

const texts = [
  '',
  'plain',
  'küche',
  '你好，世界',
  '👍 up',
  'e\u0301te\u0301',
  '─━│',
  'x'.repeat(500),
  '你'.repeat(300),
];

describe('text in cells', () => {
  test.each(texts)('%j takes as many cells as terminals give it', (text) => {
    expect(widthOf(text)).toBe(stringWidth(text));
  });

  test.each(texts)('%j fits any width exactly', (text) => {
    for (let width = 0; width < 30; width += 1) {
      expect(stringWidth(padTo(text, width))).toBe(width);
      expect(stringWidth(padStartTo(text, width))).toBe(width);
      expect(stringWidth(cutTo(text, width))).toBeLessThanOrEqual(width);
    }
  });

  test('what is cut ends with an ellipsis, and between characters', () => {
    expect(cutTo('twelve chars', 8)).toBe('twelve …');
    expect(cutTo('你好世界', 6)).toBe('你好…');
    expect(cutTo('fits', 4)).toBe('fits');
  });

  test('emoji that terminals disagree on are shown by the first of their parts', () => {
    expect(steady('a 👨‍👩‍👧 b ❤️ c 👍🏽')).toBe('a 👨 b ❤ c 👍');
    expect(steady('plain 你好 e\u0301')).toBe('plain 你好 e\u0301');
  });
});
