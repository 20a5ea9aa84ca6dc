import { expect, test } from 'vitest';
import { jsonLine, jsonLines, jsonText } from '../../src/kernel/escape.ts';

test('JSON of a message nested more deeply than can be written says so in the place of what is too deep', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(JSON.parse(jsonLine({ t: 1, body: deep }))).toEqual({ t: 1, body: '(nested too deeply)' });
  expect(JSON.parse(jsonLines({ t: 1, body: deep }))).toEqual({ t: 1, body: '(nested too deeply)' });
  expect(JSON.parse(jsonText(deep))).toBe('(nested too deeply)');
});
