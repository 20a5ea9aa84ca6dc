import { expect, test } from 'vitest';
import { maxAnswerBytes, shorten } from '../../../src/commands/mcp/shorten.ts';

const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test('a short answer is unchanged', () => {
  const answer = { a: [1, { b: 'text' }], c: null };
  expect(shorten(answer)).toEqual(answer);
});

test('a long list keeps its first items and a count of the others', () => {
  const events = Array.from({ length: 1_000 }, (_, seq) => ({ seq, text: 'x'.repeat(80) }));
  const short = shorten({ exitCode: 0, events }) as { events: object[]; omitted: Record<string, number> };
  expect(short.events.slice(0, 2)).toEqual(events.slice(0, 2));
  expect(short.events.length + (short.omitted.events ?? 0)).toBe(1_000);
  expect(size(short)).toBeLessThanOrEqual(maxAnswerBytes);
  expect(size(short)).toBeGreaterThan(maxAnswerBytes / 4);
});

test('what an answer lacks already is counted too', () => {
  expect(shorten({ events: [1], omitted: { events: 7 } })).toEqual({ events: [1], omitted: { events: 7 } });
  const events = Array.from({ length: 500 }, () => 'x'.repeat(400));
  const short = shorten({ events, omitted: { events: 7 } }) as {
    events: string[];
    omitted: Record<string, number>;
  };
  expect(short.events.length + (short.omitted.events ?? 0)).toBe(507);
});

test('a long text is cut, wherever it is, and the characters are counted', () => {
  const short = shorten({ rules: [{ evidence: ['y'.repeat(90_000)] }, { evidence: ['z'] }] });
  expect(short).toMatchObject({
    rules: [{ evidence: [expect.stringMatching(/^y+…$/)] }, { evidence: ['z'] }],
  });
  expect(short.omitted).toEqual({ 'rules[].evidence[]': expect.any(Number) });
});

test('any answer becomes short enough and keeps its fields', () => {
  const deep = (levels: number): unknown =>
    levels === 0 ? 'ü'.repeat(500) : Array.from({ length: 6 }, () => ({ [`k${levels}`]: deep(levels - 1) }));
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, index]));
  const short = shorten({ exitCode: 1, tree: deep(5), many });
  expect(size(short)).toBeLessThanOrEqual(maxAnswerBytes);
  expect(Object.keys(short)).toEqual(['exitCode', 'tree', 'many', 'omitted']);
});
