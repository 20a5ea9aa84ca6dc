import { describe, expect, test } from 'vitest';
import { createKeyReader, maxPasted } from '../../src/ui/read-keys.ts';

/** What is read from these inputs: a key by its name, a paste as `{ pasted }`. */
function read(...inputs: string[]) {
  const reader = createKeyReader();
  return inputs.flatMap((input) => reader(input)).map((one) => ('key' in one ? one.key : one));
}

describe('the keys in the input of a terminal', () => {
  test.each([
    ['a?Z', ['a', '?', 'Z']],
    ['\u001b[A\u001bOB\u001b[5~\u001b[F', ['up', 'down', 'pageup', 'end']],
    ['\u001b', ['escape']],
    ['\r\t \u007f', ['enter', 'tab', 'space', 'backspace']],
    ['ü你👍', ['ü', '你', '👍']],
    ['\u001b[1;5C\u001b[15~x\u001b[201~', ['x']],
    ['\u0001\u0004', []],
  ])('%j is %j', (input, keys) => {
    expect(read(input)).toEqual(keys);
  });
});

describe('pasted text', () => {
  test('is text, and what stands around it is keys', () => {
    expect(read('j\u001b[200~hello quit\u001b[201~q')).toEqual(['j', { pasted: 'hello quit' }, 'q']);
  });

  test.each([
    ['a line break is a space', 'a\rb\nc\r\nd\te', 'a b c d e'],
    ['control characters are dropped', 'a\u0001\u007f\u009bb', 'ab'],
    ['sequences of a terminal are dropped', '\u001b[31mred\u001b[0m \u001b[Aq\u001b', 'red q'],
    ['an unfinished sequence does not hide the end', 'a\u001bO', 'aO'],
    ['a second start is no text', 'a\u001b[200~b', 'ab'],
    ['characters of several units stay whole', 'ü你👍', 'ü你👍'],
  ])('is one line: %s', (_what, pasted, text) => {
    expect(read(`\u001b[200~${pasted}\u001b[201~q`)).toEqual([{ pasted: text }, 'q']);
  });

  test('without text is nothing', () => {
    expect(read('\u001b[200~\u001b[201~')).toEqual([]);
  });

  test('that comes in two reads is text, wherever it is cut', () => {
    const whole = 'j\u001b[200~quit\u001b[201~k';
    for (let at = 1; at < whole.length; at += 1) {
      const all = read(whole.slice(0, at), '', whole.slice(at));
      // Escape acts at once: what follows cannot be known.
      const keys = all.filter((one) => typeof one === 'string' && one !== 'escape');
      const text = all.map((one) => (typeof one === 'string' ? '' : one.pasted)).join('');
      expect({ at, keys, text }).toEqual({ at, keys: ['j', 'k'], text: 'quit' });
    }
  });

  test('is cut where it is too long, and its rest is no keys', () => {
    const half = 'x'.repeat(maxPasted - 1);
    expect(read(`\u001b[200~${half}`, '你👍quit', 'quit\u001b[201~q')).toEqual([
      { pasted: half },
      { pasted: '你' },
      'q',
    ]);
  });

  test.each([
    ['\u001b', ['escape']],
    ['\u001b[A', ['up']],
    ['\u001bOB?', ['down', '?']],
    ['\u001bq\u001b', ['escape', 'q', 'escape']],
  ])('whose end never comes ends with the keys %j', (input, keys) => {
    expect(read('\u001b[200~lost', 'q', input, 'q')).toEqual([
      { pasted: 'lost' },
      { pasted: 'q' },
      ...keys,
      'q',
    ]);
  });
});
