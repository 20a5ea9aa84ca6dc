import { describe, expect, test } from 'vitest';
import { cutText, escapeText, jsonLine, jsonLines, jsonText } from '../../src/kernel/escape.ts';

describe('text from outside', () => {
  test.each([
    ['ESC', '\u001b[2J', '\\u001b[2J'],
    ['CSI in one character', '\u009b31m', '\\u009b31m'],
    ['APC in one character', '\u009fh', '\\u009fh'],
    ['the first of C1', '\u0080', '\\u0080'],
    ['the last of C0', '\u001f', '\\u001f'],
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
    ['a command to the runner of a pipeline', '::set-output name=a::b', '\\u003a:set-output name=a::b'],
    ['one behind spaces', ' \u00a0::add-mask::b', ' \u00a0\\u003a:add-mask::b'],
    ['one of an older runner', 'a ##[add-path]/b', 'a #\\u0023[add-path]/b'],
    ['one of another runner', 'a##vso[task.setvariable]b', 'a#\\u0023vso[task.setvariable]b'],
  ])('%s is shown escaped', (_what, text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  test.each([
    ['plain ~'],
    ['\u00a0ü é ß'],
    ['\u200b\u200d\u2010\u2027\u202f\u2065\u206a\u061b'],
    ['日本語'],
    ['😀 👩‍👩‍👧'],
    ['שלום'],
    ['a\\u001b'],
    ['a::b [::1] # ## a #[b]'],
  ])('%s is unchanged', (text) => {
    expect(escapeText(text)).toBe(text);
  });
});

describe('JSON', () => {
  /** Code points that a terminal may obey: Unicode's control, format, separator and surrogate characters in this range. */
  const obeyed = (text: string) =>
    [...text]
      .map((character) => character.codePointAt(0)!)
      .filter(
        (code) =>
          code < 0x20 ||
          (code > 0x7e && code < 0xa0) ||
          [0x61c, 0x200e, 0x200f, 0x2028, 0x2029].includes(code) ||
          (code >= 0x202a && code <= 0x202e) ||
          (code >= 0x2066 && code <= 0x2069) ||
          (code >= 0xd800 && code <= 0xdfff),
      );
  const everything = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join('');

  test('is one line without anything that a terminal would obey, and the same value when it is parsed', () => {
    const command = '::a::b ##[c] ##vso[d]';
    const value = {
      [everything]: [everything, command, '\\##[a]', null, 1.5, true, {}],
      __proto__: null,
      lone: '\ud800',
    };
    const line = jsonLine(value);
    expect(line.endsWith('\n')).toBe(true);
    expect(obeyed(line.slice(0, -1))).toEqual([]);
    expect(line).not.toMatch(/##(?:vso)?\[/);
    expect(JSON.parse(line)).toEqual({ ...value });
  });

  test('on several lines is the same value, and just as safe', () => {
    const value = { a: ['\u009b', { b: '\u202e\n' }] };
    const text = jsonLines(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.split('\n')).toHaveLength(9);
    expect(text).not.toMatch(/[\u009b\u202e]/);
  });

  // As the stack ends it; escape-deep.test.ts has the real thing.
  const tooDeep = {
    toJSON() {
      throw new RangeError('Maximum call stack size exceeded');
    },
  };

  test('has a note in place of what is nested too deeply', () => {
    expect(jsonText({ t: 1, body: tooDeep, more: [1] })).toBe(
      '{"t":1,"body":"(nested too deeply)","more":[1]}',
    );
    expect(jsonText([1, tooDeep])).toBe('"(nested too deeply)"');
    expect(jsonLines({ body: tooDeep })).toBe('{\n  "body": "(nested too deeply)"\n}\n');
  });

  test('of undefined is null, and any other value that cannot be written is a failure', () => {
    expect(jsonText(undefined)).toBe('null');
    expect(() => jsonText(1n)).toThrow(TypeError);
  });
});

test.each([
  ['abc', 2, 'ab'],
  ['abc', 3, 'abc'],
  ['abc', 9, 'abc'],
  ['abc', 0, ''],
  ['a😀b', 1, 'a'],
  ['a😀b', 2, 'a'],
  ['a😀b', 3, 'a😀'],
  ['a\ud83db', 2, 'a\ud83d'],
  ['a\ude00b', 1, 'a'],
  ['\ud83d\ude00a\ude00', 3, '\ud83d\ude00a'],
  ['\ud83d\ude00\ud83dx', 3, '\ud83d\ude00\ud83d'],
])('%j cut to %d units is %j: no character is cut in two', (text, length, cut) => {
  expect(cutText(text, length)).toBe(cut);
});
