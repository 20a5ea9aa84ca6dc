import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planDevices, type SessionNeed } from '../../../src/runs/load/tasks.ts';

const need: SessionNeed = { tokens: 1, streams: 1, longestMs: 20_000, requestMs: 10_000 };
const evenly = (count: number, everyMs: number) =>
  Float64Array.from({ length: count }, (_, at) => at * everyMs);

test('ten sessions share a device, and the eleventh has another', () => {
  const { deviceOf, devices } = planDevices(evenly(11, 0), need);
  expect([...deviceOf]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  expect(devices).toBe(2);
});

test('a place of a device is reused when its session has certainly ended', () => {
  const { devices } = planDevices(evenly(100, 2_001), need);
  expect(devices).toBe(1);
});

test('sixty sessions that only request tokens share a device within a window', () => {
  const tokensOnly = { tokens: 1, streams: 0, longestMs: 12_000, requestMs: 10_000 };
  expect(planDevices(evenly(60, 0), tokensOnly).devices).toBe(1);
  expect(planDevices(evenly(61, 0), tokensOnly).devices).toBe(2);
  // A request that is answered late still counts in the window.
  expect(planDevices(Float64Array.from([...evenly(60, 0), 69_999]), tokensOnly).devices).toBe(2);
  expect(planDevices(Float64Array.from([...evenly(60, 0), 70_000]), tokensOnly).devices).toBe(1);
});

test('no device ever exceeds 10 streams or 60 tokens per minute, however late the service answers', () => {
  const needs = fc.record({
    tokens: fc.integer({ min: 1, max: 3 }),
    streams: fc.integer({ min: 0, max: 2 }),
    longestMs: fc.integer({ min: 1, max: 90_000 }),
    requestMs: fc.integer({ min: 1, max: 15_000 }),
  });
  const gaps = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(
      needs,
      gaps,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (one, steps, delays) => {
        let now = 0;
        const arrivals = Float64Array.from(steps, (step) => (now += step));
        const { deviceOf } = planDevices(arrivals, one);
        const byDevice = new Map<number, number[]>();
        for (const [index, device] of deviceOf.entries())
          byDevice.set(device, [...(byDevice.get(device) ?? []), index]);
        for (const sessions of byDevice.values()) {
          // Each request reaches the service at some moment before it is given up.
          const seen = sessions
            .map((index) => (arrivals[index] ?? 0) + (delays.next().value ?? 0) * one.requestMs)
            .sort((a, b) => a - b);
          for (const [index, at] of seen.entries()) {
            const inWindow = seen.slice(index).filter((later) => later < at + 60_000).length;
            expect(inWindow * one.tokens).toBeLessThanOrEqual(60);
          }
          for (const index of sessions) {
            const at = arrivals[index] ?? 0;
            const open = sessions.filter((other) => {
              const from = arrivals[other] ?? 0;
              return from <= at && at < from + one.longestMs;
            });
            expect(open.length * one.streams).toBeLessThanOrEqual(10);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});
