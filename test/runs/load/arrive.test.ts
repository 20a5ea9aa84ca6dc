import { expect, test } from 'vitest';
import { startArrivals } from '../../../src/runs/load/generate.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

/** A clock like that of the machine: timers run whole milliseconds and are early. Each look at it takes 0.05 ms. */
function createCoarseClock() {
  const clock = createManualClock();
  const timers: number[] = [];
  const now = () => {
    clock.advance(0.05);
    return clock.now();
  };
  const after: typeof clock.after = (delayMs, call) => {
    const wholeMs = Math.max(1, Math.trunc(delayMs));
    timers.push(wholeMs);
    setImmediate(() => {
      clock.advance(wholeMs);
      call();
    });
    return { cancel() {} };
  };
  return { ...clock, now, after, timers };
}

test('rare arrivals are neither early nor as late as a timer', async () => {
  const clock = createCoarseClock();
  const arrival = startArrivals(clock, new AbortController().signal);
  for (const due of [7.9, 30.4, 35.4]) {
    expect(await arrival(due)).toBe(true);
    const lateMs = clock.now() - due;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(0.3);
  }
  expect(clock.timers.length).toBeLessThanOrEqual(3);
});

test('an arrival soon after another is waited for in the same way if most are rare', async () => {
  const clock = createCoarseClock();
  const arrival = startArrivals(clock, new AbortController().signal);
  for (const due of [20, 40, 60, 62.5, 64.9]) {
    expect(await arrival(due)).toBe(true);
    const lateMs = clock.now() - due;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(0.3);
  }
});

test('close arrivals only use timers, and are not early either', async () => {
  const clock = createCoarseClock();
  const arrival = startArrivals(clock, new AbortController().signal);
  await arrival(0);
  for (const due of [2.5, 2.5, 4.4]) {
    const before = clock.timers.length;
    const isDue = due <= clock.now();
    expect(await arrival(due)).toBe(true);
    expect(clock.now()).toBeGreaterThanOrEqual(due);
    if (!isDue) expect(clock.timers.length).toBeGreaterThan(before);
  }
});

test('the end of the run ends the wait', async () => {
  const clock = createManualClock();
  const ending = new AbortController();
  const came = startArrivals(clock, ending.signal)(clock.now() + 1_000);
  ending.abort(new Error('over'));
  expect(await came).toBe(false);
});
