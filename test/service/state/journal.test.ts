import { describe, expect, test } from 'vitest';
import type { EmulatorEvent } from '../../../src/service/events.ts';
import { createJournal } from '../../../src/service/state/journal.ts';
import type { JournalEntry } from '../../../src/service/state/state.ts';

const issued = (device: string): EmulatorEvent => ({
  t: 0,
  type: 'token-issued',
  device,
  jti: 'j',
  exp: 1,
  remaining: 1,
  resetAtMs: 1,
});
const sent = (body: unknown): EmulatorEvent => ({ t: 0, type: 'message-sent', stream: 1, device: 'a', body });

function journalOf(...events: EmulatorEvent[]) {
  const journal = createJournal();
  for (const event of events) journal.add(event);
  return journal;
}

const seqs = (entries: readonly JournalEntry[]) => entries.map(({ seq }) => seq);

describe('reading', () => {
  const journal = journalOf(issued('a'), issued('b'), sent(1));

  test.each([
    ['everything', {}, 10, [1, 2, 3]],
    ['one type', { type: 'token-issued' }, 10, [1, 2]],
    ['one device', { device: 'a' }, 10, [1, 3]],
    ['one stream', { stream: 1 }, 10, [3]],
    ['what came later', { since: 1 }, 10, [2, 3]],
    ['the newest two', {}, 2, [2, 3]],
    ['no more than there is', {}, Number.POSITIVE_INFINITY, [1, 2, 3]],
    ['none at all', {}, 0, []],
  ])('finds %s', (_what, filter, limit, found) => {
    expect(seqs(journal.read(filter, limit))).toEqual(found);
  });
});

test('a follower sees each later event that matches the filter, until it stops', () => {
  const journal = journalOf(issued('a'));
  const seen: JournalEntry[] = [];
  const unfollow = journal.follow({ device: 'b' }, (entry) => seen.push(entry));
  journal.add(issued('a'));
  journal.add(issued('b'));
  unfollow();
  journal.add(issued('b'));
  expect(seqs(seen)).toEqual([3]);
});

test('numbers continue after the journal was cleared', () => {
  const journal = journalOf(issued('a'), issued('b'));
  journal.clear();
  journal.add(issued('c'));
  expect(seqs(journal.read({}, 10))).toEqual([3]);
});

test('at most 10,000 events are remembered, each with its number', () => {
  const journal = createJournal();
  for (let i = 0; i < 35_000; i += 1) journal.add(issued('a'));
  const entries = journal.read({}, Number.POSITIVE_INFINITY);
  expect(entries.length).toBe(10_000);
  expect([entries[0]?.seq, entries.at(-1)?.seq]).toEqual([25_001, 35_000]);
});

test('at most 8 MiB are remembered, however the text is nested', () => {
  const journal = createJournal();
  for (let i = 0; i < 100; i += 1) journal.add(sent({ lines: [{ text: `${i}`.padEnd(500_000) }] }));
  const text = JSON.stringify(journal.read({}, Number.POSITIVE_INFINITY));
  expect(text.length).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(text.length).toBeGreaterThan(4 * 1024 * 1024);
  expect(seqs(journal.read({}, 1))).toEqual([100]);
});

test('a very deeply nested body is weighed too', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  expect(journalOf(sent(deep)).read({}, 1)).toHaveLength(1);
});
