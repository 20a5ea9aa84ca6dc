import fc from 'fast-check';
import { type LoadMetric, loadMetricNames } from '../../../src/config/threshold.ts';
import { type LoadTick, noCounts } from '../../../src/runs/load/tick.ts';

/** A tick of which only what matters is given; times are milliseconds. */
export function tickOf(
  given: Partial<Omit<LoadTick, 'counts' | 'finished' | 'unfinished'>> & {
    counts?: Partial<LoadTick['counts']>;
    finished?: Partial<Record<LoadMetric, number[]>>;
    unfinished?: Partial<Record<LoadMetric, number[]>>;
  } = {},
): LoadTick {
  const toUs = (times: Partial<Record<LoadMetric, number[]>> = {}) =>
    Object.fromEntries(Object.entries(times).map(([name, list]) => [name, list.map((ms) => ms * 1000)]));
  return {
    generator: 0,
    second: 0,
    opened: 0,
    failures: {},
    lateness: [],
    core: undefined,
    pauseMs: undefined,
    touched: {},
    ...given,
    counts: { ...noCounts, ...given.counts },
    finished: toUs(given.finished),
    unfinished: toUs(given.unfinished),
  };
}

const us = fc.integer({ min: 1, max: 3_600_000_000 });
const times = fc.dictionary(fc.constantFrom(...loadMetricNames), fc.array(us, { maxLength: 8 }));

/** Any tick of any second of a short run. */
export const anyTick: fc.Arbitrary<LoadTick> = fc.record({
  generator: fc.constant(0),
  second: fc.integer({ min: 0, max: 20 }),
  counts: fc
    .array(fc.integer({ min: 0, max: 1_000 }), { minLength: 13, maxLength: 13 })
    .map((values) =>
      Object.fromEntries(Object.keys(noCounts).map((name, index) => [name, values[index] ?? 0])),
    ) as unknown as fc.Arbitrary<LoadTick['counts']>,
  opened: fc.integer({ min: 0, max: 50 }),
  finished: times,
  unfinished: times,
  failures: fc.dictionary(
    fc.constantFrom('timeout' as const, 'token-refused' as const, 'stream-broken' as const),
    fc.integer({ min: 1, max: 9 }),
  ),
  lateness: fc.array(fc.tuple(us, fc.integer({ min: 1, max: 100 })), { maxLength: 5 }),
  core: fc.constant(undefined),
  pauseMs: fc.constant(undefined),
  touched: fc.dictionary(fc.constantFrom(...loadMetricNames), fc.integer({ min: 1, max: 9 })),
});
