import { expect, test } from 'vitest';
import { jsonLine, jsonLines, jsonText } from '../../src/kernel/escape.ts';

test('JSON of a message that is nested too deeply has a note in place of that part', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(JSON.parse(jsonLine({ t: 1, body: deep }))).toEqual({ t: 1, body: '(nested too deeply)' });
  expect(JSON.parse(jsonLines({ t: 1, body: deep }))).toEqual({ t: 1, body: '(nested too deeply)' });
  expect(JSON.parse(jsonText(deep))).toBe('(nested too deeply)');
});
