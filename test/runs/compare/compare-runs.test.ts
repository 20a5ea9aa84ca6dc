import { describe, expect, test } from 'vitest';
import { parseTolerance } from '../../../src/config/threshold.ts';
import { comparisonText } from '../../../src/report/compare-lines.ts';
import { compareRuns } from '../../../src/runs/compare/compare-runs.ts';
import type { Figure } from '../../../src/runs/compare/figure.ts';
import type { ComparedItem, ComparedRun, RunSet } from '../../../src/runs/compare/run-set.ts';

const figure = (name: string, value: number, more: Partial<Figure> = {}): Figure => ({
  ...{ name, value, noise: 0.001, isLowerBound: false },
  ...more,
});

function setOf(runs: readonly Partial<ComparedRun>[], more: Partial<RunSet> = {}): RunSet {
  const all = runs.map((run) => ({ at: null, invalid: [], figures: [], items: [], ...run }));
  return {
    ...{ kind: 'load', name: 'a set', subject: '', plan: [['sessions', 100]] },
    ...{ runs: all as unknown as RunSet['runs'] },
    ...more,
  };
}

/** Runs with these times of first audio. */
const times = (...values: number[]) =>
  setOf(values.map((value) => ({ figures: [figure('first-audio:p95', value)] })));
const steady = times(400, 404, 396, 402, 398, 401);

describe('a figure', () => {
  test.each([
    [500, 'worse'],
    [402, 'same'],
    [410, 'same'],
    [300, 'better'],
  ] as const)('of %i ms after six runs of about 400 ms is %s', (now, change) => {
    const comparison = compareRuns(steady, times(now));
    expect(comparison.figures).toMatchObject([{ name: 'first-audio:p95', change, isNoiseKnown: true }]);
    expect(comparison.verdict).toBe(change);
  });

  test('is within the noise if the runs of the baseline differ as much', () => {
    expect(compareRuns(times(300, 520, 410, 350, 480, 400), times(500)).verdict).toBe('same');
  });

  test('is within the noise if its own run is that uncertain, even if the baseline is steady', () => {
    const unsure = setOf([{ figures: [figure('first-audio:p95', 440, { noise: 0.1 })] }]);
    expect(compareRuns(steady, unsure).verdict).toBe('same');
    expect(compareRuns(steady, times(440)).verdict).toBe('worse');
  });

  test('cannot be judged with fewer than five runs, however large the difference', () => {
    const comparison = compareRuns(times(400, 400, 400, 400), times(4_000));
    expect(comparison).toMatchObject({
      verdict: 'unknown',
      figures: [{ change: 'unknown', isNoiseKnown: false }],
    });
    expect(comparison.figures[0]?.noise).toBeLessThan(0.01);
    expect(comparison.figures[0]?.why).toBe('fewer than 5 earlier runs');
  });

  test.each([
    ['first-audio:p95<10%', 'same'],
    ['first-audio:p95<100ms', 'same'],
    ['first-audio:p95<5%', 'worse'],
    ['first-audio:p95<=36ms', 'same'],
    ['first-audio:p95<36ms', 'worse'],
  ] as const)('with a tolerance of %s, 9 % more is %s', (text, change) => {
    const tolerances = [parseTolerance(text)];
    expect(compareRuns(times(400, 400, 400, 400, 400), times(436), tolerances).verdict).toBe(change);
    expect(compareRuns(times(400), times(436), tolerances).verdict).toBe(change);
  });

  test.each([
    ['failed<1%', 'failed', 0, 0.75, 'worse'],
    ['failed<1%', 'failed', 0, 0.005, 'same'],
    ['failed<0%', 'failed', 0.5, 0.5, 'same'],
    ['token:p50<10%', 'token:p50', 100, 120, 'worse'],
    ['token:p50<10%', 'token:p50', 100, 105, 'same'],
  ] as const)(
    'of fewer than five runs is judged by a tolerance alone: with %s, %s from %d to %d is %s',
    (text, name, before, now, change) => {
      const noisy = (value: number) => setOf([{ figures: [figure(name, value, { noise: 0.5 })] }]);
      expect(compareRuns(noisy(before), noisy(now), [parseTolerance(text)]).verdict).toBe(change);
    },
  );

  test('that is worse comes first, the largest difference before the others', () => {
    const of = (token: number, connect: number, back: number) =>
      setOf([
        { figures: [figure('token:p50', token), figure('connect:p50', connect), figure('back:p50', back)] },
      ]);
    const base = setOf([1, 2, 3, 4, 5].flatMap(() => of(10, 10, 10).runs));
    const names = compareRuns(base, of(10, 20, 40)).figures.map(({ name }) => name);
    expect(names).toEqual(['back:p50', 'connect:p50', 'token:p50']);
  });

  test('that is only a lower bound is worse if that is enough, and otherwise unknown', () => {
    const bound = (value: number) =>
      setOf([{ figures: [figure('first-audio:p95', value, { isLowerBound: true })] }]);
    expect(compareRuns(steady, bound(500)).verdict).toBe('worse');
    const unknown = compareRuns(steady, bound(350));
    expect(unknown).toMatchObject({
      verdict: 'unknown',
      figures: [{ why: expect.stringContaining('may be higher') }],
    });
    expect(comparisonText(unknown)).toMatch(
      /^cannot tell .*: some sessions did not finish, so the true value may be higher$/,
    );
    // A baseline of lower bounds says too little; a few of them show what happened before.
    const some = setOf([...times(400, 404, 396, 402).runs, ...bound(900).runs, ...bound(880).runs]);
    expect(compareRuns(some, times(880)).verdict).toBe('same');
    const bounds = setOf([300, 300, 300, 300, 300, 300].flatMap((value) => bound(value).runs));
    expect(compareRuns(bounds, times(400)).verdict).toBe('unknown');
  });

  test('that did not finish in most earlier runs is not compared with the few that did', () => {
    const bound = () => ({ figures: [figure('first-audio:p95', 30_000, { isLowerBound: true })] });
    const quick = times(2_000, 2_010, 2_020, 2_060, 2_050, 2_030, 2_040, 2_015, 2_025).runs;
    const base = (bounds: number) => setOf([...Array.from({ length: bounds }, bound), ...quick]);
    const unknown = {
      verdict: 'unknown',
      figures: [{ a: null, difference: null, why: 'most earlier runs did not finish' }],
    };
    expect(compareRuns(base(11), setOf([bound()]))).toMatchObject(unknown);
    expect(compareRuns(base(11), times(2_100), [parseTolerance('first-audio:p95<1%')])).toMatchObject(
      unknown,
    );
    expect(compareRuns(base(9), setOf([bound()])).verdict).toBe('unknown');
    expect(compareRuns(base(9), times(2_030)).figures).toMatchObject([{ change: 'same', why: null }]);
    expect(compareRuns(base(1), setOf([bound()])).figures[0]?.a).toBeGreaterThan(2_000);
  });

  test('that only some runs of the baseline measured is explained by that', () => {
    const base = (rare: number) =>
      setOf(
        Array.from({ length: 6 }, (_, run) => ({
          figures: [figure('token:p50', 10), ...(run < rare ? [figure('gap:p50', 50)] : [])],
        })),
      );
    const whyOf = (rare: number) => {
      const { figures } = compareRuns(base(rare), setOf([{ figures: [figure('gap:p50', 70)] }]));
      return figures.find(({ name }) => name === 'gap:p50')?.why;
    };
    expect(whyOf(3)).toBe('measured in only 3 earlier runs; 5 are needed');
    expect(whyOf(1)).toBe('measured in only 1 earlier run; 5 are needed');
    expect(whyOf(0)).toBe('not measured before');
    const gaps = setOf([...times(1, 1, 1, 1, 1).runs.map(() => ({})), { figures: [figure('gap:p50', 50)] }]);
    expect(comparisonText(compareRuns(gaps, setOf([{ figures: [figure('gap:p50', 70)] }])))).toBe(
      'cannot tell whether it got worse: measured in only 1 earlier run; 5 are needed',
    );
  });

  test.each([
    [1, 0, 402, 'not worse: 1 figure is within the noise'],
    [3, 0, 402, 'not worse: all 3 figures are within the noise'],
    [3, 10, 402, 'not worse: 3 of 13 figures are within the noise; 10 cannot be judged'],
    [1, 1, 402, 'not worse: 1 of 2 figures is within the noise; 1 cannot be judged'],
    [2, 0, 300, 'nothing got worse; 2 figures got better'],
    [2, 10, 300, '2 of 12 figures got better, none got worse; 10 cannot be judged'],
    [2, 10, 500, '2 figures got worse beyond the noise'],
  ])(
    'is unknown separately if it cannot be judged: %i can, %i cannot, at %i ms',
    (known, fresh, ms, says) => {
      const named = (name: string, count: number, value: number) =>
        Array.from({ length: count }, (_, index) => figure(`${name}-${index}`, value));
      const base = setOf(
        [400, 404, 396, 402, 398, 401].map((value) => ({ figures: named('known', known, value) })),
      );
      const now = setOf([{ figures: [...named('known', known, ms), ...named('fresh', fresh, 1)] }]);
      expect(comparisonText(compareRuns(base, now))).toBe(says);
    },
  );

  test('that is longer within the tolerance does not count as within the noise', () => {
    const comparison = compareRuns(steady, times(436), [parseTolerance('first-audio:p95<10%')]);
    expect(comparisonText(comparison)).toBe('not worse: 1 figure is within the noise or what is allowed');
  });

  describe('of a tail, p95 / p50', () => {
    const run = (p50: number, p95: number) => ({
      figures: [figure('token:p50', p50), figure('token:p95', p95)],
    });
    // All times of a run are longer or shorter together, by up to 10 %.
    const uneven = setOf([1, 1.1, 0.9, 1.05, 0.95, 1.02].map((by) => run(100 * by, 200 * by)));
    const changeOf = (p50: number, p95: number, tolerances: readonly string[] = []) =>
      compareRuns(uneven, setOf([run(p50, p95)]), tolerances.map(parseTolerance)).figures.find(
        ({ name }) => name === 'token:p95/p50',
      );

    test('is worse if it is longer, even if the p95 alone is within the noise', () => {
      const comparison = compareRuns(uneven, setOf([run(100, 220)]));
      expect(comparison.figures).toMatchObject([
        { name: 'token:p95/p50', change: 'worse', difference: expect.closeTo(0.1) },
        { change: 'same' },
        { change: 'same' },
      ]);
      expect(comparison.figures[0]?.a).toBeCloseTo(2);
      expect(changeOf(95, 205)?.change).toBe('worse');
    });

    test.each([
      ['all times are longer', 120, 240],
      ['the median is shorter, and the p95 is not longer', 80, 200],
      ['the median is far shorter', 20, 220],
      ['the median is longer, and the p95 is not', 130, 200],
    ])('is not worse if %s', (_name, p50, p95) => {
      expect(changeOf(p50, p95)?.change).toBe('same');
    });

    test('is not worse if the tolerance allows a longer p95', () => {
      expect(changeOf(100, 220, ['token:p95<15%'])?.change).toBe('same');
      expect(changeOf(100, 220, ['token:p95<5%'])?.change).toBe('worse');
    });
  });

  test('that is missing says nothing', () => {
    const none = compareRuns(setOf([{}, {}, {}, {}, {}, {}]), setOf([{}]));
    expect(none.verdict).toBe('unknown');
    expect(comparisonText(none)).toContain('there are no figures');
  });

  test('without any noise is also sorted', () => {
    const flat = (value: number) =>
      setOf(
        Array.from({ length: 6 }, () => ({
          figures: ['token', 'connect', 'back'].map((name) => figure(`${name}:p50`, value, { noise: 0 })),
        })),
      );
    const { figures } = compareRuns(flat(10), flat(10));
    expect(figures.map(({ change, difference }) => [change, difference])).toEqual(Array(3).fill(['same', 0]));
  });

  test('that is no longer measured is worse, but a gap may vanish', () => {
    const base = (name: string) => setOf([1, 2, 3, 4, 5].map(() => ({ figures: [figure(name, 400)] })));
    expect(compareRuns(base('first-audio:p50'), setOf([{}])).verdict).toBe('worse');
    expect(compareRuns(base('gap:p50'), setOf([{}])).verdict).toBe('unknown');
  });

  test('of shares: one failure in a hundred is noise, twenty are not', () => {
    const failed = (share: number) => setOf([{ figures: [figure('failed', share, { noise: 0.05 })] }]);
    const base = setOf([1, 2, 3, 4, 5, 6, 7, 8].flatMap(() => failed(0).runs));
    expect(compareRuns(base, failed(0.01)).verdict).toBe('same');
    const worse = compareRuns(base, failed(0.2));
    expect(worse.verdict).toBe('worse');
    expect(worse.figures[0]).toMatchObject({ a: 0, difference: expect.closeTo(0.2) });
    expect(compareRuns(base, failed(0.2), [parseTolerance('failed<25%')]).verdict).toBe('same');
  });
});

describe('a run that is not valid', () => {
  test.each(['first', 'second'] as const)('is not judged if it is the %s one', (which) => {
    const bad = setOf([{ invalid: ['it stood still'], figures: [figure('first-audio:p95', 900)] }], {
      name: 'bad',
    });
    const comparison = which === 'first' ? compareRuns(bad, steady) : compareRuns(steady, bad);
    expect(comparison).toMatchObject({
      verdict: 'not valid',
      invalid: ['bad: it stood still'],
      figures: [{ change: 'unknown' }],
    });
  });
});

describe('runs that cannot be compared are refused', () => {
  const item = (id: string): ComparedItem => ({ id, title: '', verdict: 'pass', message: '' });
  test.each([
    ['another kind', setOf([{}], { kind: 'stream' }), /is a result of load, .* of stream/],
    ['another plan', setOf([{}], { plan: [['sessions', 200]] }), /sessions is 100 in .*, but 200 in/],
    ['a plan without it', setOf([{}], { plan: [] }), /sessions is 100 in .*, but not known in/],
  ])('%s', (_what, other, says) => {
    expect(() => compareRuns(steady, other)).toThrow(says);
  });

  test('fewer rules', () => {
    const all = setOf([{ items: [item('R1'), item('R2')] }], { kind: 'check', plan: [] });
    const some = setOf([{ items: [item('R1')] }], { kind: 'check', plan: [] });
    expect(() => compareRuns(all, some)).toThrow(/lacks 1 verdict of .*, such as R2/);
    expect(compareRuns(some, all).verdict).toBe('same');
  });

  test('a tolerance for a figure that neither has', () => {
    expect(() => compareRuns(steady, steady, [parseTolerance('token:p50<10%')])).toThrow(
      '--tolerance token:p50<10%: neither result has this figure',
    );
  });
});

describe('a verdict', () => {
  const judged = (...runs: string[]) =>
    setOf(
      runs.map((verdict) => ({ items: [{ id: 'R12', title: 'exp', verdict, message: 'seen' }] })),
      { kind: 'check', plan: [] },
    );
  test.each([
    [['pass'], 'fail', 'worse'],
    [['pass'], 'warn', 'worse'],
    [['warn'], 'fail', 'worse'],
    [['fail'], 'pass', 'better'],
    [['fail'], 'fail', 'same'],
    [['pass', 'fail', 'pass'], 'fail', 'same'],
    [['pass', 'warn'], 'fail', 'worse'],
    [['pass'], 'skipped', 'unknown'],
    [['unknown'], 'fail', 'unknown'],
    [['skipped'], 'pass', 'same'],
  ] as const)('after %j, %s is %s', (before, now, change) => {
    const comparison = compareRuns(judged(...before), judged(now));
    expect(comparison.verdict).toBe(change);
    expect(comparison.items).toHaveLength(change === 'same' ? 0 : 1);
    expect(comparison.unchanged).toBe(change === 'same' ? 1 : 0);
  });

  test('of a rule that was broken in a situation counts as kept if it is missing', () => {
    const drilled = (...ids: string[]) =>
      setOf(
        [
          {
            items: ids.map((id) => ({ id, title: '', verdict: id === 'D1' ? 'pass' : 'fail', message: '' })),
          },
        ],
        {
          kind: 'drill',
          plan: [],
        },
      );
    expect(compareRuns(drilled('D1'), drilled('D1', 'D1/D4'))).toMatchObject({
      verdict: 'worse',
      items: [{ id: 'D1/D4', a: 'pass', b: 'fail' }],
    });
    expect(compareRuns(drilled('D1', 'D1/D4'), drilled('D1')).verdict).toBe('better');
  });
});

test('a setting of a dialect with another value is a change, neither better nor worse', () => {
  const dialect = (verdict: string) =>
    setOf([{ items: [{ id: 'token.jti', title: '', verdict, message: '' }] }], { kind: 'dialect', plan: [] });
  expect(compareRuns(dialect('true'), dialect('false'))).toMatchObject({
    verdict: 'changed',
    items: [{ id: 'token.jti', a: 'true', b: 'false' }],
  });
  expect(compareRuns(dialect('true'), dialect('true')).verdict).toBe('same');
});
