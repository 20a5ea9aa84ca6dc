import { expect, test } from 'vitest';
import { deviationOf } from '../../../src/runs/compare/noise.ts';

const noiseless = (...values: number[]) => ({ values, noises: values.map(() => 0) });

/** Student's t for 0.999, from a table: three figures share false alarms of 0.003. */
test.each([
  ['5 runs and a new one', [0, 1, 0, 1, 0], [0], 1.2, 7.173],
  ['5 runs and two new ones', [0, 1, 0, 1, 0], [0, 1], 1.7, 5.893],
  ['6 runs and a new one', [0, 1, 0, 1, 0, 1], [0], 1.5, 5.893],
])('%s have as many degrees of freedom as runs but two', (_what, base, next, squares, t) => {
  const { limit } = deviationOf(noiseless(...base), noiseless(...next), 3);
  const spread = Math.sqrt(squares / (base.length + next.length - 2));
  expect(limit).toBeCloseTo(t * spread * Math.sqrt(1 / base.length + 1 / next.length), 2);
});
