import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseArrival } from '../../../src/config/arrival.ts';
import { scheduleArrivals } from '../../../src/runs/load/plan.ts';

const schedule = (text: string, sessions: number, rampUpMs?: number) =>
  [...scheduleArrivals(parseArrival(text), { sessions, rampUpMs, seed: 7 })].map((ms) => Math.round(ms));

test('a constant rate spreads the sessions evenly from the start', () => {
  expect(schedule('constant:4/s', 5)).toEqual([0, 250, 500, 750, 1000]);
});

test('a rate that ramps up reaches its value at the end of the ramp', () => {
  const at = schedule('constant:10/s', 100, 4_000);
  // Half of the full rate on average: 20 sessions within the 4 s of the ramp.
  expect(at.filter((ms) => ms < 4_000)).toHaveLength(20);
  expect(at.slice(21, 24)).toEqual([4100, 4200, 4300]);
});

test('a ramp takes as long as all its sessions do, up or down', () => {
  const up = schedule('ramp:0..20/s', 100);
  expect(up.filter((ms) => ms < 5_000)).toHaveLength(25);
  expect(Math.max(...up)).toBeLessThan(10_000);
  const down = schedule('ramp:20..0/s', 100);
  expect(down.filter((ms) => ms < 5_000)).toHaveLength(75);
});

test('a ramp down to 0 during a given time has room for as many sessions as arrive in it', () => {
  const down = schedule('ramp:10..0/s', 50, 10_000);
  expect(new Set(down).size).toBe(50);
  expect(Math.max(...down)).toBeLessThan(10_000);
  expect(() => schedule('ramp:10..0/s', 51, 10_000)).toThrow('Only 50 of 51 sessions arrive');
});

test('a burst arrives at once, and the next one after its interval', () => {
  expect(schedule('burst:2/5s', 5)).toEqual([0, 0, 5000, 5000, 10_000]);
});

test('Poisson arrivals depend on the seed, have the rate on average, and are uneven', () => {
  const first = schedule('poisson:50/s', 5_000);
  expect(schedule('poisson:50/s', 5_000)).toEqual(first);
  expect(first.at(-1)).toBeGreaterThan(95_000);
  expect(first.at(-1)).toBeLessThan(105_000);
  const gaps = first.slice(1).map((ms, index) => ms - (first[index] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
  // Of exponential gaps the deviation is the mean.
  expect(deviation / mean).toBeGreaterThan(0.9);
  expect(deviation / mean).toBeLessThan(1.1);
});

test('arrivals never go back in time', () => {
  const arrival = fc.oneof(
    fc.record({ kind: fc.constant('constant' as const), perSecond: fc.integer({ min: 1, max: 500 }) }),
    fc.record({ kind: fc.constant('poisson' as const), perSecond: fc.integer({ min: 1, max: 500 }) }),
    fc.record({
      kind: fc.constant('ramp' as const),
      from: fc.integer({ min: 0, max: 100 }),
      to: fc.integer({ min: 1, max: 100 }),
    }),
  );
  fc.assert(
    fc.property(arrival, fc.integer({ min: 0, max: 20_000 }), (kind, rampUpMs) => {
      const at = scheduleArrivals(kind, { sessions: 60, rampUpMs, seed: 1 });
      at.forEach((ms, index) => {
        expect(Number.isFinite(ms)).toBe(true);
        if (index > 0) expect(ms).toBeGreaterThanOrEqual(at[index - 1] ?? 0);
      });
    }),
    { numRuns: 60 },
  );
});
