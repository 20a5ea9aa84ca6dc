import { describe, expect, test } from 'vitest';
import { parseThreshold } from '../../../src/config/threshold.ts';
import { createTotals } from '../../../src/runs/load/result.ts';
import { isCrossed, judgeThreshold } from '../../../src/runs/load/thresholds.ts';
import { tickOf } from './ticks.ts';

const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

function judge(text: string, tick: Parameters<typeof tickOf>[0]) {
  const totals = createTotals();
  totals.add(tickOf(tick));
  return {
    ...judgeThreshold(parseThreshold(text), totals),
    isCrossed: isCrossed(parseThreshold(text), totals),
  };
}

test.each([
  ['token:p95<96ms', true, 95],
  ['token:p95<95ms', false, 95],
  ['token:max<=100ms', true, 100],
  ['token:max<100ms', false, 100],
  ['token:min<2ms', true, 1],
])('%s holds: %s', (text, holds, value) => {
  const judged = judge(text, { finished: { token: hundred } });
  expect(judged.holds).toBe(holds);
  expect(judged.value).toBeCloseTo(value, 0);
});

test('a threshold for something that was never measured does not hold', () => {
  expect(judge('token:p95<1s', {})).toMatchObject({ holds: false, value: null, isCrossed: false });
});

test.each(['gap:max<1ms', 'jitter:p95<1ms'])('%s holds if each reply came in one message', (text) => {
  expect(judge(text, { counts: { replies: 20 } })).toMatchObject({ holds: true, value: 0 });
  expect(judge(text, { counts: { replies: 0 } })).toMatchObject({ holds: false, value: null });
  const measured = { counts: { replies: 20 }, finished: { gap: [5], jitter: [5] } };
  expect(judge(text, measured)).toMatchObject({ holds: false });
});

test.each([
  ['failed<5%', true],
  ['failed<4%', false],
  ['failed<=4', true],
  ['failed<4', false],
])('%s of 4 of 100 holds: %s', (text, holds) => {
  expect(judge(text, { counts: { arrived: 100, failed: 4 } }).holds).toBe(holds);
});

test('the rank of a percentile is exact', () => {
  // 99.9 / 100 * 1000 is more than 999: the last of a thousand, which did not finish, would be the next one.
  const thousand = Array.from({ length: 999 }, (_, index) => index + 1);
  const tick = { finished: { token: thousand }, unfinished: { token: [5_000] } };
  const judged = judge('token:p99.9<1s', tick);
  expect(judged).toMatchObject({ holds: true, isLowerBound: false });
  expect(judged.value).toBeCloseTo(999, 0);
});

describe('times that did not finish', () => {
  const tick = { finished: { token: hundred.slice(0, 98) }, unfinished: { token: [5, 5000] } };

  test('count with their age, as a lower bound', () => {
    expect(judge('token:max<10s', tick)).toMatchObject({ value: 5000, isLowerBound: true, holds: false });
  });

  test.each([
    ['all are unfinished', [], [100, 200], { value: 100, isLowerBound: true, holds: false }],
    ['the youngest is unfinished', [300], [100, 200], { value: 100, isLowerBound: true, holds: false }],
    ['none could be shorter', [100], [200], { value: 100, isLowerBound: false, holds: true }],
  ])('make the minimum a lower bound, unless it is certain: %s', (_which, token, age, judged) => {
    const times = { finished: { token }, unfinished: { token: age } };
    expect(judge('token:min<500ms', times)).toMatchObject(judged);
  });

  test('do not affect a percentile that even the worst of them could not change', () => {
    expect(judge('token:p1<10ms', tick)).toMatchObject({ holds: true });
    expect(judge('token:p98<500ms', tick)).toMatchObject({ holds: true });
  });

  test('cross a threshold whose percentile could be any of them', () => {
    expect(judge('token:p99<500ms', tick)).toMatchObject({ holds: false, isLowerBound: true });
  });

  test('do not end a run early while they could still hold', () => {
    expect(judge('token:p99<500ms', tick).isCrossed).toBe(false);
    expect(judge('token:max<1s', tick).isCrossed).toBe(true);
  });
});
