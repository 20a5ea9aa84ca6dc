import { expect, test } from 'vitest';
import { wrapText } from '../../src/report/verdict-lines.ts';

test('a text from a service, wherever it is wrapped, has no line that a pipeline runs as a command', () => {
  const words = [
    '::add-path::/x',
    '##[command]a',
    '##vso[task.setvariable]a',
    ' ::b::',
    'x'.repeat(75),
    '::',
  ];
  for (let length = 0; length < 80; length += 1) {
    for (const word of words) {
      const lines = wrapText(`${'a'.repeat(length)} ${word} ${'b'.repeat(length)}${word}${'c '.repeat(40)}`);
      for (const line of lines) {
        expect(line).not.toMatch(/^\s*::|##[a-z]*\[/);
        expect(line.length).toBeLessThanOrEqual(75);
      }
    }
  }
});

test('a long word is broken without losing any of it', () => {
  const lines = wrapText(`a ${'😀'.repeat(50)} b`);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(75);
  expect(lines.join('').replaceAll(' ', '')).toBe(`a${'😀'.repeat(50)}b`);
});
