import { expect, test } from 'vitest';
import type { Clock } from '../../../src/kernel/clock.ts';
import { createOwnLateness } from '../../../src/service/streams/lost-time.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

/** A clock whose timers fire as late as the test says. */
function lateClock() {
  let now = 0;
  let pending: (() => void) | undefined;
  const clock: Clock = {
    now: () => now,
    wall: () => now,
    after(_delayMs, call) {
      pending = call;
      return { cancel: () => (pending = undefined) };
    },
  };
  return {
    clock,
    pass(ms: number) {
      now += ms;
    },
    fire(afterMs: number) {
      now += afterMs;
      pending?.();
    },
    isIdle: () => pending === undefined,
  };
}

test('time in which the process did not run is lost; the lateness of any timer is not', () => {
  const { clock, fire } = lateClock();
  const own = createOwnLateness(clock);
  own.watch();
  for (const ms of [50, 52, 55]) fire(ms);
  expect(own.lostMs).toBe(0);
  fire(350);
  fire(50);
  expect(own.lostMs).toBe(300);
});

test('a message that is read before the timer fires knows of the pause', () => {
  const { clock, pass } = lateClock();
  const own = createOwnLateness(clock);
  own.watch();
  pass(350);
  expect(own.lostMs).toBe(300);
});

test('nothing is measured before the first stream and after the last', () => {
  const { clock, fire, isIdle } = lateClock();
  const own = createOwnLateness(clock);
  expect(isIdle()).toBe(true);
  const [end, endOther] = [own.watch(), own.watch()];
  end();
  expect(isIdle()).toBe(false);
  endOther();
  expect(isIdle()).toBe(true);
  fire(5_000);
  own.watch();
  fire(50);
  expect(own.lostMs).toBe(0);
});

test('moving the clock in a test loses no time', () => {
  const clock = createManualClock();
  const own = createOwnLateness(clock);
  own.watch();
  clock.advance(60_000);
  expect(own.lostMs).toBe(0);
});
