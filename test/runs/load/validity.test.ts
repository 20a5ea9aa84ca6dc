import { expect, test } from 'vitest';
import { createTimes } from '../../../src/runs/load/histogram.ts';
import { busiest } from '../../../src/runs/load/run-load.ts';
import { noCounts } from '../../../src/runs/load/tick.ts';
import { whyIncomplete, whyInvalid } from '../../../src/runs/load/validity.ts';

function invalid({ lateMs = 1, core = 0.5, lost = null as string | null, dropped = 0 } = {}) {
  const lateness = createTimes();
  for (let frame = 0; frame < 1_000; frame += 1) lateness.add(frame < 980 ? 1 : lateMs * 1000);
  const generators = [{ name: '1/2.1', core, lost }];
  return whyInvalid({
    counts: { ...noCounts, dropped },
    lateness: lateness.encode(),
    generators,
  });
}

test('a run whose machine was not the limit is valid', () => {
  expect(invalid()).toEqual([]);
  expect(invalid({ lateMs: 19.9, core: 0.91 })).toEqual([]);
});

test.each([
  [{ lateMs: 21 }, 'left 21.0 ms late'],
  [{ core: 0.93 }, 'generator 1/2.1 used 93 % of its core'],
  [{ dropped: 1 }, '1 arrivals were dropped'],
  [{ lost: 'it was ended by SIGKILL' }, 'generator 1/2.1 was lost: it was ended by SIGKILL'],
])('a run with %j is not', (given, why) => {
  expect(invalid(given)).toEqual([expect.stringContaining(why)]);
});

test('the core of a generator is judged over its busiest ten seconds', () => {
  expect(busiest([])).toBeNull();
  expect(busiest([0.5, 1])).toBeCloseTo(0.75);
  const shares = [...Array(20).fill(0.1), ...Array(10).fill(0.95), ...Array(20).fill(0.1)];
  expect(busiest(shares)).toBeCloseTo(0.95);
});

test('a merged result needs all its shards', () => {
  expect(whyIncomplete({ has: [1, 2, 3], of: 3 })).toEqual([]);
  expect(whyIncomplete({ has: [2], of: 3 })).toEqual(['shard 1, 3 of 3 is missing']);
});
