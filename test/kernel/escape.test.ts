import { describe, expect, test } from 'vitest';
import { escapeText, jsonLine, jsonLines, jsonText } from '../../src/kernel/escape.ts';

describe('text from outside', () => {
  test.each([
    ['ESC', '\u001b[2J', '\\u001b[2J'],
    ['CSI in one character', '\u009b31m', '\\u009b31m'],
    ['BEL, BS and CR', '\u0007\b\r', '\\u0007\\u0008\\u000d'],
    ['a new line and a tab', 'a\n\tb', 'a\\n\\tb'],
    ['DEL', '\u007f', '\\u007f'],
    ['NUL', '\u0000', '\\u0000'],
    ['bidi overrides', '\u202eabc\u202c', '\\u202eabc\\u202c'],
    ['bidi isolates', '\u2066a\u2069', '\\u2066a\\u2069'],
    ['bidi marks', '\u200e\u200f\u061c', '\\u200e\\u200f\\u061c'],
    ['separators of lines and paragraphs', '\u2028\u2029', '\\u2028\\u2029'],
    ['half a surrogate pair', 'a\ud83d', 'a\\ud83d'],
    ['the other half', '\ude00a', '\\ude00a'],
  ])('%s is shown escaped', (_what, text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  test.each([['plain'], ['ü é ß'], ['日本語'], ['😀 👩‍👩‍👧'], ['שלום'], ['a\\u001b']])(
    '%s stays as it is',
    (text) => {
      expect(escapeText(text)).toBe(text);
    },
  );
});

describe('JSON', () => {
  const everything = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join('');

  test('is one line without anything that a terminal would obey, and the same value when it is parsed', () => {
    const value = { [everything]: [everything, null, 1.5, true, {}], __proto__: null, lone: '\ud800' };
    const line = jsonLine(value);
    expect(line.endsWith('\n')).toBe(true);
    expect(escapeText(line.slice(0, -1))).toBe(line.slice(0, -1));
    expect(JSON.parse(line)).toEqual({ ...value });
  });

  test('spread over lines is the same value, and as safe', () => {
    const value = { a: ['\u009b', { b: '\u202e\n' }] };
    const text = jsonLines(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.split('\n')).toHaveLength(9);
    expect(text).not.toMatch(/[\u009b\u202e]/);
  });

  test('of a message nested more deeply than can be written says so in the place of what is too deep', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(JSON.parse(jsonLine({ t: 1, body: deep }))).toEqual({ t: 1, body: '(nested too deeply)' });
    expect(JSON.parse(jsonLines({ t: 1, body: deep }))).toEqual({ t: 1, body: '(nested too deeply)' });
    expect(JSON.parse(jsonText(deep))).toBe('(nested too deeply)');
  });
});
