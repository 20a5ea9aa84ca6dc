import { describe, expect, test } from 'vitest';
import { readKeys } from '../../src/ui/read-keys.ts';

describe('the keys in the input of a terminal', () => {
  test.each([
    ['a?Z', ['a', '?', 'Z']],
    ['\u001b[A\u001bOB\u001b[5~\u001b[F', ['up', 'down', 'pageup', 'end']],
    ['\u001b', ['escape']],
    ['\r\t \u007f', ['enter', 'tab', 'space', 'backspace']],
    ['ü你👍', ['ü', '你', '👍']],
    ['\u001b[1;5C\u001b[200~x\u001b[201~', ['x']],
    ['\u0001\u0004', []],
  ])('%j is %j', (input, keys) => {
    expect(readKeys(input)).toEqual(keys);
  });
});
