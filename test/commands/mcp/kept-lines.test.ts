import { expect, test } from 'vitest';
import { createKeptLines } from '../../../src/commands/mcp/kept-lines.ts';

const message = (t: number, characters: number) => ({
  ...{ type: 'message', t, body: { text: 'x'.repeat(characters) } },
});

test('a line that is too long for an answer is kept as its type, its time and its number of characters', () => {
  const kept = createKeptLines();
  const long = message(12, 1024 * 1024);
  const returned = kept.add(long);
  expect(returned).toEqual({ type: 'message', t: 12, characters: JSON.stringify(long).length });
  expect(kept.lines).toEqual([returned]);
});

test('short lines are kept whole, the first 500 of them', () => {
  const kept = createKeptLines();
  for (let t = 0; t < 600; t += 1) expect(kept.add(message(t, 10))).toEqual(message(t, 10));
  expect(kept.lines).toHaveLength(500);
  expect(kept.lines.at(-1)).toEqual(message(499, 10));
  expect(kept.leftOut).toBe(100);
});

test('lines of a service that sends long messages are kept up to 1 MiB together, without holes', () => {
  const kept = createKeptLines();
  for (let t = 0; t < 40; t += 1) kept.add(message(t, 60_000));
  kept.add(message(40, 10));
  expect(JSON.stringify(kept.lines).length).toBeLessThan(1024 * 1024 + 1_000);
  expect(kept.lines).toEqual(Array.from({ length: kept.lines.length }, (_, t) => message(t, 60_000)));
  expect(kept.lines.length).toBeGreaterThan(10);
});

test('long lines take no room from the lines after them', () => {
  const kept = createKeptLines();
  for (let t = 0; t < 100; t += 1) kept.add(message(t, 1024 * 1024));
  const last = kept.add(message(100, 10));
  expect(kept.lines.at(-1)).toEqual(last);
  expect(kept.lines).toHaveLength(101);
  expect(kept.leftOut).toBe(0);
});
