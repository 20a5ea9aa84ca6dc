import { describe, expect, test } from 'vitest';
import { findStorm, growsApart, waitsText } from '../../../src/rules/device/backoff.ts';

/** Attempts with these waits between them. */
const attempts = (...waits: number[]) =>
  [5_000, ...waits].map((_, index, all) => all.slice(0, index + 1).reduce((sum, wait) => sum + wait));

describe('seven attempts within ten seconds are a storm', () => {
  test.each([
    ['seven in a second', attempts(0, 200, 200, 200, 200, 200), { attempts: 7, ms: 1_000 }],
    ['seven in ten seconds', attempts(5_000, 1_000, 1_000, 1_000, 1_000, 1_000), { attempts: 7, ms: 10_000 }],
    ['seven in more', attempts(5_001, 1_000, 1_000, 1_000, 1_000, 1_000), undefined],
    ['six in no time', attempts(0, 0, 0, 0, 0), undefined],
    [
      'seven in no time, after a while',
      attempts(20_000, 20_000, 10, 10, 10, 10, 10, 10),
      { attempts: 7, ms: 60 },
    ],
    ['none', [], undefined],
  ])('%s', (_what, times, storm) => {
    expect(findStorm(times)).toEqual(storm);
  });
});

describe('the waits between attempts', () => {
  test.each([
    ['grow where each is twice as long', attempts(1_000, 2_000, 4_000), true],
    ['grow where the later ones are longer by 1.3', attempts(1_000, 1_300, 1_300), true],
    ['do not grow where they are longer by less', attempts(1_000, 1_299, 1_300), false],
    ['do not grow where a busy machine delays them', attempts(53, 50, 90, 120), false],
    ['grow where they begin with little', attempts(50, 100, 200, 400), true],
    ['do not grow where they are equal', attempts(2_000, 2_000, 2_000, 2_000), false],
    ['do not grow where they shrink', attempts(4_000, 2_000, 1_000), false],
    ['need not grow where the later ones are ten seconds', attempts(30_000, 10_000, 10_000), true],
    ['have to where they are shorter', attempts(30_000, 9_999, 10_000), false],
    ['are too few to tell', attempts(1_000, 1_000), undefined],
  ])('%s', (_what, times, grows) => {
    expect(growsApart(times)).toBe(grows);
  });

  test('are shown in seconds', () => {
    expect(waitsText(attempts(500, 1_080, 2_000))).toBe('0.5 s, 1.1 s, 2.0 s');
    expect(waitsText([3_000])).toBe('');
  });
});
