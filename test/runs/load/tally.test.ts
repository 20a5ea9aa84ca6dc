import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/kernel/clock.ts';
import { Pauses, Tally } from '../../../src/runs/load/tally.ts';

/** A tally whose process is looked at every 20 ms, but while it stands still. */
function measure() {
  let now = 1_000;
  const clock: Clock = { now: () => now, wall: () => now, after: () => ({ cancel() {} }) };
  const pauses = new Pauses(clock);
  return {
    tally: new Tally(pauses),
    pass(ms: number) {
      for (let left = ms; left > 0; left -= 20) {
        now += Math.min(20, left);
        pauses.look();
      }
    },
    standStill(ms: number) {
      now += ms;
    },
    get now() {
      return now;
    },
  };
}

describe('a pause of the process that measures', () => {
  test('is reported once, with its length', () => {
    const { tally, pass, standStill } = measure();
    pass(1_000);
    expect(tally.flush().pauseMs).toBe(0);
    standStill(300);
    pass(500);
    standStill(1_200);
    expect(tally.flush().pauseMs).toBe(1_200);
    pass(1_000);
    expect(tally.flush().pauseMs).toBe(0);
  });

  test.each([
    [99, 0],
    [100, 100],
  ])('of %d ms counts as one of %d ms', (ms, counted) => {
    const { tally, standStill } = measure();
    standStill(ms);
    expect(tally.flush().pauseMs).toBe(counted);
  });

  test('counts in times that were measured meanwhile, and in no others', () => {
    const { tally, pass, standStill } = measure();
    pass(100);
    tally.finished('token', 50);
    pass(40);
    standStill(500);
    // Told by the first thing that happens after it, before anybody has looked.
    tally.finished('connect', 510);
    pass(40);
    tally.finished('connect', 41);
    tally.finished('connect', 39);
    tally.unfinished('confirmed', 600);
    expect(tally.flush().touched).toEqual({ connect: 2, confirmed: 1 });
    expect(tally.flush().touched).toEqual({});
  });

  test('counts in everything that began before it, however short the measured time is', () => {
    const meter = measure();
    meter.pass(1_000);
    const began = meter.now;
    meter.standStill(200);
    meter.pass(1_000);
    meter.tally.finished('gap', 30, began);
    meter.tally.finished('jitter', 30, began + 220);
    expect(meter.tally.flush().touched).toEqual({ gap: 1 });
  });
});
