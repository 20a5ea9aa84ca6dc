import { expect, test } from 'vitest';
import { marksInView, spansInView } from '../../src/page/app/picture/in-view.ts';
import type { Mark } from '../../src/page/view-data.ts';
import { relateTurns } from '../../src/recording/turns.ts';

/** Ten turns a minute, each with an answer after 500 ms and a gap in it; and a message in each second. */
function conversation(minutes: number) {
  const spoken = Array.from({ length: minutes * 10 }, (_, at) => [
    { voice: 'out' as const, startMs: at * 6_000, endMs: at * 6_000 + 2_000 },
    { voice: 'in' as const, startMs: at * 6_000 + 2_500, endMs: at * 6_000 + 5_000 },
  ]).flat();
  const gapAt = (at: number) => ({ startMs: at * 6_000 + 3_000, endMs: at * 6_000 + 3_200 });
  const markAt = (at: number): Mark => ({ t: at * 1_000, tone: 'ink', name: 'message', text: '' });
  return {
    ...{ durationMs: minutes * 60_000, phases: [], spoken: [], arrivals: [] },
    turns: relateTurns(spoken),
    gaps: Array.from({ length: minutes * 10 }, (_, at) => gapAt(at)),
    marks: Array.from({ length: minutes * 60 }, (_, at) => markAt(at)),
  };
}

const pxPerMs = 1_000 / 30_000;

test('only the part of a long session that is in view is drawn', () => {
  const axis = conversation(90);
  const part = { axis, start: 60_000, end: 90_000, pxPerMs };
  const { turns, gaps } = spansInView(part);
  expect(turns[0]!.endMs).toBeGreaterThan(60_000 - 300 / pxPerMs);
  expect(turns.at(-1)!.startMs).toBeLessThan(90_000 + 300 / pxPerMs);
  expect(turns.length).toBeLessThan(20);
  expect(turns).toEqual(
    expect.arrayContaining(axis.turns.filter((one) => one.startMs > 60_000 && one.endMs < 90_000)),
  );
  expect(gaps.map(({ startMs }) => startMs)).toEqual(
    expect.arrayContaining([63_000, 69_000, 75_000, 81_000, 87_000]),
  );
  expect(gaps.length).toBeLessThan(10);
  expect(marksInView(part)).toHaveLength(31);
});

test('a wait that is in view is drawn, wherever its reply starts', () => {
  const turns = relateTurns([
    { voice: 'out', startMs: 0, endMs: 1_000 },
    { voice: 'in', startMs: 200_000, endMs: 201_000 },
  ]);
  const axis = { ...conversation(0), durationMs: 201_000, turns };
  const shown = spansInView({ axis, start: 90_000, end: 120_000, pxPerMs }).turns;
  expect(shown).toMatchObject([{ voice: 'in', afterMs: 199_000 }]);
});

test('of marks at the same place the most severe is shown', () => {
  const mark = (t: number, tone: Mark['tone']): Mark => ({ t, tone, name: tone, text: '' });
  const marks = [mark(1_000, 'ink'), mark(1_010, 'bad'), mark(1_020, 'note'), mark(2_000, 'ink')];
  const axis = { ...conversation(0), marks };
  const seen = marksInView({ axis, start: 0, end: 30_000, pxPerMs });
  expect(seen.map(({ t }) => t)).toEqual([1_010, 2_000]);
});
