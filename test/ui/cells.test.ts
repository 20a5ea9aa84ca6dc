import stringWidth from 'string-width';
import { describe, expect, test, vi } from 'vitest';
import {
  cutNameTo,
  cutTo,
  padNameTo,
  padStartTo,
  padTo,
  toTerminalCells,
  widthOf,
} from '../../src/ui/cells.ts';

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
      expect(stringWidth(padNameTo(text, width))).toBe(width);
      expect(stringWidth(cutTo(text, width))).toBeLessThanOrEqual(width);
    }
  });

  test.each([
    ['twelve chars', 8, 'twelve…'],
    ['send the token alone, exactly', 24, 'send the token alone…'],
    ['as kitchen-1 to wss://voice.example.com/stream', 30, 'as kitchen-1 to wss://voice.…'],
    ['service_voice_connected', 10, 'service…'],
    ['unbreakable', 6, 'unbre…'],
  ])('%j in %i cells is cut after a word', (whole, width, shown) => {
    expect(cutTo(whole, width)).toBe(shown);
  });

  test.each([
    ['kitchen-lamp-0017', 12, 'kitchen…0017'],
    ['kitchen-lamp-0023', 12, 'kitchen…0023'],
    ['kitchen-lamp-0023', 17, 'kitchen-lamp-0023'],
    ['厨房的灯零零一七', 8, '厨房…七'],
    ['ab', 1, '…'],
  ])('the name %j in %i cells is cut in its middle', (name, width, shown) => {
    expect(cutNameTo(name, width)).toBe(shown);
  });

  test('a cut text ends with an ellipsis, between characters', () => {
    expect(cutTo('你好世界', 6)).toBe('你好…');
    expect(cutTo('fits', 4)).toBe('fits');
  });

  test('emoji that terminals disagree on are shown by the first of their parts', () => {
    expect(toTerminalCells('a 👨‍👩‍👧 b ❤️ c 👍🏽 d \u{1f3f4}\u{e0067}\u{e007f}', 80)).toBe(
      'a 👨 b ❤ c 👍 d 🏴',
    );
    expect(toTerminalCells('plain 你好 e\u0301', 80)).toBe('plain 你好 e\u0301');
  });

  test.each([
    ['a space without width', 'lamp\u200b', 'lamp\\u200b'],
    ['a word joiner', 'a\u2060b', 'a\\u2060b'],
    ['a soft hyphen', 'a\u00adb', 'a\\u00adb'],
    ['a Hangul filler', 'a\u3164b', 'a\\u3164b'],
    ['one of a later plane', '\u{e0001}', '\\udb40\\udc01'],
  ])('%s, which nobody sees and terminals disagree on, is shown escaped', (_what, text, shown) => {
    expect(toTerminalCells(text, 80)).toBe(shown);
  });

  test('of a text that is far too long only the start is read, in whole characters', () => {
    const [segment, looked] = [Intl.Segmenter.prototype.segment, [] as number[]];
    const spy = vi.spyOn(Intl.Segmenter.prototype, 'segment').mockImplementation(function (
      this: Intl.Segmenter,
      text,
    ) {
      looked.push(text.length);
      return segment.call(this, text);
    });
    const shown = [30, 31, 32, 33].map((width) =>
      cutTo(toTerminalCells(`x${'👍'.repeat(100_000)}`, width), width),
    );
    spy.mockRestore();
    expect(shown[0]).toBe(`x${'👍'.repeat(14)}…`);
    expect(Math.max(...looked)).toBeLessThan(250);
    for (const text of shown) expect(text.isWellFormed()).toBe(true);
  });

  test('a cut text that shrinks below the width still ends with an ellipsis', () => {
    expect(cutTo(toTerminalCells('👨‍👩‍👧‍👦'.repeat(500), 60), 60)).toMatch(/^(👨)+…$/u);
  });
});
