import statistics from 'jstat';
import { describe, expect, test } from 'vitest';
import { compareRuns, type RunComparison } from '../../../src/runs/compare/compare-runs.ts';
import { deviationOf } from '../../../src/runs/compare/noise.ts';
import {
  baselineOf,
  createDraws,
  type Draws,
  type SimulatedService,
  type SimulatedShift,
  simulateRun,
} from './simulated-runs.ts';

/**
 * How often each service is compared: `COMPARISONS=200`, or `npm run comparisons`, whose figures are in docs/LOAD.md. A
 * comparison is of a baseline of its own with one run more.
 */
const comparisons = Number(process.env.COMPARISONS ?? 0);
const isWhole = comparisons > 0;
const trials = isWhole ? comparisons : 2;
/** The stated length of a run. */
const sessions = 3_000;

const lognormal =
  (medianMs: number, sigma: number) =>
  ({ normal }: Draws) =>
    medianMs * Math.exp(sigma * normal());

const services: Record<string, SimulatedService & { p90: number; isQuiet: boolean }> = {
  'one way, runs differ by 1 %': {
    time: lognormal(400, 0.25),
    between: ({ normal }) => 0.01 * normal(),
    ...{ failing: 0, p90: 551, isQuiet: true },
  },
  'one session in ten takes a slow way, runs differ by 1 %': {
    time: (draws) => (draws.uniform() < 0.1 ? lognormal(900, 0.1) : lognormal(300, 0.1))(draws),
    between: ({ normal }) => 0.01 * normal(),
    ...{ failing: 0.002, p90: 500, isQuiet: true },
  },
  'some runs are far from the others, 1 % at heavy tails': {
    time: lognormal(400, 0.25),
    between: ({ heavy }) => 0.01 * heavy(),
    ...{ failing: 0, p90: 551, isQuiet: false },
  },
  'a busy machine, runs differ by 5 %': {
    time: lognormal(400, 0.25),
    between: ({ normal }) => 0.05 * normal(),
    ...{ failing: 0.01, p90: 551, isQuiet: false },
  },
};

type IsTold = (comparison: RunComparison) => boolean;

/** Compares as often as asked, each time with a baseline of its own: the share of comparisons in which each shift was told. */
function compareOften(
  service: SimulatedService,
  { runs, seed }: { runs: number; seed: number },
  shifts: readonly (readonly [shift: SimulatedShift | undefined, isTold: IsTold])[],
): number[] {
  const draws = createDraws(seed);
  const told = shifts.map(() => 0);
  for (let trial = 0; trial < trials; trial += 1) {
    const base = baselineOf(Array.from({ length: runs }, () => simulateRun(service, draws, { sessions })));
    for (const [index, [shift, isTold]] of shifts.entries()) {
      const comparison = compareRuns(base, simulateRun(service, draws, { sessions, shift }));
      if (isTold(comparison)) told[index] = (told[index] ?? 0) + 1;
    }
  }
  return told.map((times) => times / trials);
}

const isWorse = ({ verdict }: RunComparison) => verdict === 'worse';
const isP95Worse = ({ figures }: RunComparison) =>
  figures.some(({ name, change }) => name.startsWith('first-audio:p95') && change === 'worse');
const print = (text: string) => isWhole && process.stdout.write(`${text}\n`);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

describe.each(Object.entries(services).slice(0, isWhole ? undefined : 2))('%s', (name, service) => {
  test('equal runs are not reported as worse, but a p95 that is 10 % longer is, with 20 runs', () => {
    const tail = { fromMs: service.p90, factor: 1.1 };
    const [equal = 1, longer = 0] = compareOften(service, { runs: 20, seed: 1 }, [
      [undefined, isWorse],
      [tail, isP95Worse],
    ]);
    print(`${name}; 20 runs: ${percent(equal)} of equal runs "worse", ${percent(longer)} of p95 + 10 % told`);
    expect(equal).toBeLessThanOrEqual(0.02);
    if (service.isQuiet) expect(longer).toBeGreaterThanOrEqual(0.95);
  }, 1_200_000);

  test.runIf(isWhole).each([5, 10])(
    'with %i runs only a larger difference is told',
    (runs) => {
      const factors = [1.05, 1.1, 1.2, 1.5];
      const shifts = factors.map((factor) => [{ fromMs: 0, factor }, isP95Worse] as const);
      const [equal = 1, ...shares] = compareOften(service, { runs, seed: 2 }, [
        [undefined, isWorse],
        ...shifts,
      ]);
      print(`${name}; ${runs} runs: ${percent(equal)} of equal runs "worse"`);
      for (const [index, share] of shares.entries())
        print(`${name}; ${runs} runs: ${percent(share)} of all times × ${factors[index]} told`);
      expect(equal).toBeLessThanOrEqual(0.02);
      expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    },
    1_200_000,
  );
});

/**
 * Where all times of runs differ by 5 %, one run cannot show that they are 10 % longer: not even to somebody who knows the
 * noise, and allows 2 % of false alarms. Several new runs can: `compare` takes a baseline on both sides.
 */
test('times that are 10 % longer in runs that differ by 5 % are detected with many new runs, never with one', () => {
  const { normal } = createDraws(3);
  const [between, within, of] = [0.05, 0.01, 23];
  const run = (shift: number) => shift + between * normal() + within * normal();
  const runs = (count: number, shift: number) => ({
    values: Array.from({ length: count }, () => run(shift)),
    noises: Array.from({ length: count }, () => within),
  });
  const trialsOf = isWhole ? 2_000 : 500;
  const found = [1, 5, 10, 20].map((next) => {
    const known =
      statistics.normal.inv(1 - 0.02 / of, 0, Math.hypot(between, within)) * Math.sqrt(1 / 20 + 1 / next);
    const counts = { told: 0, bound: 0, falseAlarms: 0 };
    for (let trial = 0; trial < trialsOf; trial += 1) {
      const base = runs(20, 0);
      const longer = deviationOf(base, runs(next, Math.log(1.1)), of);
      const equal = deviationOf(base, runs(next, 0), of);
      if (longer.difference > longer.limit) counts.told += 1;
      if (longer.difference > known) counts.bound += 1;
      if (equal.difference > equal.limit) counts.falseAlarms += 1;
    }
    print(
      `runs differ by 5 %, all times × 1.1, ${next} new against 20: ${percent(counts.told / trialsOf)} told, ${percent(counts.bound / trialsOf)} if the noise were known, ${percent(counts.falseAlarms / trialsOf)} of equal ones`,
    );
    return counts;
  });
  expect(found[0]?.bound).toBeLessThan(0.2 * trialsOf);
  expect(found.at(-1)?.told).toBeGreaterThan(0.95 * trialsOf);
  expect(Math.max(...found.map(({ falseAlarms }) => falseAlarms))).toBeLessThan(0.005 * trialsOf);
});
