import { describe, expect, test } from 'vitest';
import { parseThreshold, type Threshold } from '../../../src/config/threshold.ts';
import { readLive } from '../../../src/runs/load/live.ts';
import { type LoadCrew, type LoadProgress, runLoad } from '../../../src/runs/load/run-load.ts';
import { summariseSecond } from '../../../src/runs/load/summary.ts';
import { tickOf } from './ticks.ts';

const facts = {
  ...{
    version: '1',
    target: 'http://127.0.0.1:1',
    task: 'talk' as const,
    arrival: 'constant:1/s',
    seed: 1,
    startAt: 0,
  },
  cost: { sessions: 1, tokens: 1, devices: 1, audioMinutes: 1, arrivalsMs: 1, longestMs: 1 },
};

/** What is shown of two generators that report this. */
async function run(
  report: (handlers: Parameters<LoadCrew['run']>[2]) => void,
  onProgress: (progress: LoadProgress) => void = () => {},
  abortOn: readonly Threshold[] = [],
) {
  const crew: LoadCrew = { size: 2, run: async (_start, _signal, handlers) => report(handlers), close() {} };
  const { signal } = new AbortController();
  const shard = { number: 1, of: 1 };
  return runLoad({ facts, shard, signal, abortOn, crew, onProgress, onNotice() {} });
}

test('a second is shown when all generators have reported it, and none is left out', async () => {
  const shown: [second: number, arrived: number][] = [];
  await run(
    ({ onTick, onLost }) => {
      const tick = (generator: number, second: number) =>
        onTick(tickOf({ generator, second, counts: { arrived: 1 } }));
      tick(0, 0);
      expect(shown).toEqual([]);
      tick(1, 0);
      expect(shown).toEqual([[0, 2]]);
      tick(0, 1);
      // One generator is further than the other.
      tick(0, 2);
      expect(shown.at(-1)).toEqual([1, 1]);
      onLost(1, 'it is gone');
      tick(0, 4);
    },
    ({ second, totals }) => shown.push([second, summariseSecond(totals.series.at(second)).counts.arrived]),
  );
  expect(shown.map(([second]) => second)).toEqual([0, 1, 2, 3, 4]);
});

test('the live figures cover the run so far, and the last second', async () => {
  const seen: ReturnType<typeof readLive>[] = [];
  const threshold = {
    text: 'token:max<1s',
    metric: 'token',
    statistic: 'max',
    limit: 1000,
    isInclusive: false,
  };
  await run(
    ({ onTick }) => {
      for (const generator of [0, 1])
        onTick(
          tickOf({
            generator,
            finished: { token: [100] },
            lateness: [
              [4_000, 99],
              [9_000, 1],
            ],
          }),
        );
      for (const generator of [0, 1])
        onTick(tickOf({ generator, second: 1, unfinished: { token: [300] }, core: 0.25 * (1 + generator) }));
    },
    (progress) => seen.push(readLive(progress, [threshold as never])),
  );
  const [first, second] = seen;
  expect(first?.last).toMatchObject({ times: { token: { p95: 100 } }, late: { p50: 4, max: 9 } });
  expect(first?.thresholds).toEqual([expect.objectContaining({ holds: true, value: 100 })]);
  expect(second?.last).toMatchObject({ times: { token: { p95: 300 } }, late: null });
  expect(second?.core).toBe(0.5);
  const token = second?.times.find(({ metric }) => metric === 'token');
  expect(token?.statistics).toMatchObject({
    p50: { ms: expect.closeTo(100, 0), isLowerBound: false },
    max: { ms: 300, isLowerBound: true },
  });
  const late = second?.times.find(({ metric }) => metric === 'sent late');
  expect(late?.statistics.p50.ms).toBeCloseTo(4, 1);
  expect(second?.thresholds).toEqual([expect.objectContaining({ holds: false, isLowerBound: true })]);
});

describe('--abort-on', () => {
  /** Why the run was stopped; null if it was not. */
  const stoppedBy = async (text: string, tick: Parameters<typeof tickOf>[0]) => {
    const report: Parameters<typeof run>[0] = ({ onTick }) => {
      for (const generator of [0, 1]) onTick(tickOf({ generator, ...(generator === 0 ? tick : {}) }));
    };
    return (await run(report, undefined, [parseThreshold(text)])).stopped;
  };
  const sessions = (arrived: number, failed: number) => ({ counts: { arrived, failed } });
  const tokens = (count: number) => ({ finished: { token: Array.from({ length: count }, () => 800) } });

  test.each([
    ['failed<50%', sessions(20, 10), true],
    ['failed<=50%', sessions(20, 10), false],
    ['failed<=50%', sessions(20, 11), true],
    ['failed<50%', sessions(20, 9), false],
    // Of fewer sessions, a share says too little.
    ['failed<50%', sessions(19, 19), false],
    ['failed<1', sessions(1, 1), true],
    ['failed<=1', sessions(1, 1), false],
    ['token:p95<800ms', tokens(20), true],
    ['token:p95<801ms', tokens(20), false],
    ['token:p95<800ms', tokens(19), false],
  ])('%s, of %j, ends the run: %s', async (text, tick, ends) => {
    expect(await stoppedBy(text, tick)).toBe(ends ? `--abort-on ${text}` : null);
  });
});
