import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseThreshold } from '../../../src/config/threshold.ts';
import { loadPage } from '../../../src/report/load-page.ts';
import { readResult } from '../../../src/runs/load/read-result.ts';
import { createTotals, encodeResult, type LoadResult, mergeResults } from '../../../src/runs/load/result.ts';
import { createSeries } from '../../../src/runs/load/series.ts';
import { judgeResult } from '../../../src/runs/load/summary.ts';
import { type LoadTick, noCounts } from '../../../src/runs/load/tick.ts';
import { anyTick, tickOf } from './ticks.ts';

const facts: LoadResult['facts'] = {
  version: '1',
  target: 'http://127.0.0.1:1',
  task: 'talk',
  arrival: 'constant:1/s',
  seed: 1,
  startAt: 0,
  cost: { sessions: 1, tokens: 1, devices: 1, audioMinutes: 1, arrivalsMs: 1, longestMs: 1 },
};

function resultOf(ticks: readonly LoadTick[], shards: LoadResult['shards']): LoadResult {
  const totals = createTotals();
  for (const tick of ticks) totals.add(tick);
  return encodeResult({ totals, facts, shards, generators: [], stopped: null });
}

describe('a merge of results', () => {
  test('equals the result of a single run exactly', () => {
    const shares = fc.array(fc.tuple(anyTick, fc.integer({ min: 0, max: 2 })), { maxLength: 30 });
    fc.assert(
      fc.property(shares, (ticks) => {
        const single = resultOf(
          ticks.map(([tick]) => tick),
          { has: [1, 2, 3], of: 3 },
        );
        const shard = (number: number) =>
          // As it is read back from its file.
          readResult(
            JSON.stringify(
              resultOf(
                ticks.filter(([, of]) => of === number - 1).map(([tick]) => tick),
                { has: [number], of: 3 },
              ),
            ),
            'shard',
          );
        const merged = encodeResult(mergeResults([shard(3), shard(1), shard(2)]));
        expect(merged).toEqual(single);
        expect(JSON.stringify(merged)).toBe(JSON.stringify(single));
      }),
      { numRuns: 12 },
    );
  });

  test('is not valid if a shard was stopped', () => {
    const [one, two] = [1, 2].map((number) => resultOf([], { has: [number], of: 2 }));
    if (one === undefined || two === undefined) expect.unreachable();
    const merged = mergeResults([one, { ...two, stopped: 'Interrupted' }]);
    expect(judgeResult(merged, [], { isMerged: true }).summary.invalid).toEqual([
      'it ended early: Interrupted',
    ]);
  });

  test('of a run in one piece has crossed the threshold of --abort-on that ended it', () => {
    const stopped = '--abort-on failed<3';
    const counts = { arrived: 4, failed: 3 };
    const whole = { ...resultOf([tickOf({ counts })], { has: [1], of: 1 }), stopped };
    const judge = (thresholds: string[]) =>
      judgeResult(mergeResults([whole]), thresholds.map(parseThreshold), { isMerged: true }).summary;
    for (const thresholds of [[], ['failed<3']])
      expect(judge(thresholds)).toMatchObject({
        invalid: [],
        thresholds: [{ text: 'failed<3', holds: false, value: 3 }],
      });
  });

  test.each([
    ['a merge', true, 1],
    ['a run', false, 1],
    ['a shard', false, 2],
  ])('of %s that --abort-on ended fails, though its threshold holds at the end', (_, isMerged, of) => {
    const stopped = '--abort-on failed<50%';
    const counts = { arrived: 5, failed: 2 };
    const ended = { ...resultOf([tickOf({ counts })], { has: [1], of }), stopped };
    const given = ['failed<90%', 'failed<50%'].map(parseThreshold);
    expect(judgeResult(mergeResults([ended]), given, { isMerged }).summary.thresholds).toMatchObject([
      { text: 'failed<90%', holds: true },
      { text: 'failed<50%', holds: false, value: 0.4 },
    ]);
  });

  test('is not valid if --abort-on ended one of its shards', () => {
    const [one, two] = [resultOf([], { has: [1], of: 2 }), resultOf([], { has: [2], of: 2 })];
    const merged = mergeResults([one, { ...two, stopped: '--abort-on failed<3' }]);
    expect(judgeResult(merged, [], { isMerged: true }).summary.invalid).toEqual([
      'it ended early: --abort-on failed<3',
    ]);
  });

  test('of a run of days can be read and drawn', () => {
    const seconds = 130_000;
    const whole = resultOf([tickOf({ counts: { arrived: 4 } })], { has: [1], of: 1 });
    const series = createSeries();
    series.merge(
      Array.from({ length: seconds }, (_, second) => ({
        second,
        open: 0,
        counts: noCounts,
        times: {},
        late: [],
      })),
    );
    expect(series.read()).toHaveLength(seconds);
    const { summary } = judgeResult(mergeResults([whole]), []);
    const [one] = summary.seconds;
    if (one === undefined) throw new Error('there is no second');
    expect(loadPage({ ...summary, seconds: Array(seconds).fill(one) })).toContain('Over time');
  });

  test('refuses results of different runs, and a shard that is included twice', () => {
    const one = resultOf([], { has: [1], of: 2 });
    expect(() => mergeResults([one, { ...one, facts: { ...facts, seed: 2 } }])).toThrow('different runs');
    expect(() => mergeResults([one, one])).toThrow('Shard 1 is listed twice');
  });

  test('refuses more times than one result can count', () => {
    const full = (number: number) =>
      resultOf([tickOf({ lateness: [[25, 2 ** 31 - 1]] })], { has: [number], of: 2 });
    expect(() => mergeResults([full(1), full(2)])).toThrow('more measured times than a result can hold');
  });

  test('accepts shards of other versions of the program', () => {
    const [one, two] = [resultOf([], { has: [1], of: 2 }), resultOf([], { has: [2], of: 2 })];
    const merged = mergeResults([one, { ...two, facts: { ...facts, version: '2' } }]);
    expect(merged.shards).toEqual({ has: [1, 2], of: 2 });
  });
});

test('the largest and the smallest time are exact, and the others have three figures', () => {
  const { metrics } = resultOf([tickOf({ finished: { token: [1.234567, 777.777, 5000.001] } })], {
    has: [1],
    of: 1,
  });
  expect(metrics.token?.finished).toMatchObject({ count: 3, maxUs: 5_000_001 });
});

test('the series includes seconds in which nothing happened, with the open sessions', () => {
  const { series } = resultOf([tickOf({ second: 0, opened: 3 }), tickOf({ second: 3, opened: -1 })], {
    has: [1],
    of: 1,
  });
  expect(series.map(({ second, open }) => [second, open])).toEqual([
    [0, 3],
    [1, 3],
    [2, 3],
    [3, 2],
  ]);
});
