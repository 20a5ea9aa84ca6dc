import { expect, test } from 'vitest';
import { createTimes } from '../../../src/runs/load/histogram.ts';
import { highestShare } from '../../../src/runs/load/run-load.ts';
import { noCounts } from '../../../src/runs/load/tick.ts';
import { whyIncomplete, whyInvalid } from '../../../src/runs/load/validity.ts';

function invalid({
  lateMs = 1,
  core = 0.5,
  longestPauseMs = 0 as number | null,
  lost = null as string | null,
  dropped = 0,
  framesMissed = 0,
  framesHeld = 0,
  touched = 0,
} = {}) {
  const lateness = createTimes();
  for (let frame = 0; frame < 1_000; frame += 1) lateness.add(frame < 980 ? 1 : lateMs * 1000);
  const times = { finished: lateness.encode(), unfinished: createTimes().encode() };
  return whyInvalid({
    counts: { ...noCounts, framesOut: 1_000 - framesMissed - framesHeld, framesMissed, framesHeld, dropped },
    lateness: lateness.encode(),
    generators: [{ name: '1/2.1', core, longestPauseMs, lost }],
    metrics: { 'first-audio': times },
    touched: { 'first-audio': touched },
  });
}

test('a run whose machine was not the bottleneck is valid', () => {
  expect(invalid()).toEqual([]);
  expect(invalid({ lateMs: 19.9, core: 0.91 })).toEqual([]);
  expect(invalid({ longestPauseMs: 299, framesMissed: 10, touched: 10 })).toEqual([]);
  expect(invalid({ framesMissed: 10, framesHeld: 900 })).toEqual([]);
  expect(invalid({ longestPauseMs: null })).toEqual([]);
});

test.each([
  [{ lateMs: 21 }, 'started 21.0 ms late'],
  [{ core: 0.93 }, 'generator 1/2.1 used 93 % of its core'],
  [{ longestPauseMs: 300 }, 'generator 1/2.1 stalled for 300 ms'],
  [{ framesMissed: 11 }, '11 of 1000 frames were not sent, because this machine stalled'],
  [{ touched: 11 }, '11 of 1000 first-audio times include a pause of this machine'],
  [{ dropped: 1 }, 'this machine dropped 1 arrival'],
  [{ lost: 'it was ended by SIGKILL' }, 'generator 1/2.1 was lost: it was ended by SIGKILL'],
])('a run with %j is not valid', (given, why) => {
  expect(invalid(given)).toEqual([expect.stringContaining(why)]);
});

test('the core of a generator is judged over its busiest ten seconds', () => {
  expect(highestShare([])).toBeNull();
  expect(highestShare([0.5, 1])).toBeCloseTo(0.75);
  const shares = [...Array(20).fill(0.1), ...Array(10).fill(0.95), ...Array(20).fill(0.1)];
  expect(highestShare(shares)).toBeCloseTo(0.95);
  // A short peak is no bottleneck.
  expect(highestShare([...Array(20).fill(0.1), 1, 1, ...Array(20).fill(0.1)])).toBeCloseTo(0.28);
});

test('a merged result needs all its shards', () => {
  expect(whyIncomplete({ has: [1, 2, 3], of: 3 })).toEqual([]);
  expect(whyIncomplete({ has: [2], of: 3 })).toEqual(['shards 1, 3 of 3 are missing']);
});
