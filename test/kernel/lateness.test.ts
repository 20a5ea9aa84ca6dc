import { expect, test } from 'vitest';
import { watchLateness, watchOwnPauses } from '../../src/kernel/lateness.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';

/** `stop`: this process does not run for so long, and no timer with it. */
function lateProcess() {
  const clock = createCountedClock();
  let stoppedMs = 0;
  const told: number[] = [];
  const lateness = watchLateness({ ...clock, now: () => clock.now() + stoppedMs }, (ms) => told.push(ms));
  return { clock, told, lateness, stop: (ms: number) => (stoppedMs += ms) };
}

test('timers that are on time report nothing, nor does a check between them', async () => {
  const { clock, told, lateness } = lateProcess();
  for (let turn = 0; turn < 100; turn += 1) {
    await clock.run(30);
    lateness.look();
  }
  expect(told).toEqual([]);
});

test('a pause is reported once: by the next timer, or by a check before it', async () => {
  const { clock, told, lateness, stop } = lateProcess();
  stop(300);
  await clock.run(50);
  expect(told).toEqual([300]);
  await clock.run(20);
  stop(300);
  lateness.look();
  expect(told).toEqual([300, 270]);
  await clock.run(1_000);
  expect(told).toEqual([300, 270]);
});

test('nothing is reported after the end, and no timer is left', async () => {
  const { clock, told, lateness, stop } = lateProcess();
  lateness.stop();
  stop(300);
  await clock.run(1_000);
  expect([told, clock.pending]).toEqual([[], []]);
});

test('the longest pause between two times is known, if it changes a verdict', async () => {
  const clock = createCountedClock();
  let stoppedMs = 0;
  const now = () => clock.now() + stoppedMs;
  const pauses = watchOwnPauses({ ...clock, now });
  for (const ms of [1_000, 200, 500]) {
    await clock.run(1_000);
    stoppedMs += ms;
  }
  expect(pauses.longestMs(0)).toBe(1_000);
  expect(pauses.lastUntil).toBe(now());
  expect(pauses.longestMs(2_500)).toBe(450);
  expect(pauses.longestMs(0, 500)).toBe(0);
  expect(pauses.longestMs(1_900)).toBe(450);
  expect(pauses.longestMs(10_000)).toBe(0);
  expect(pauses.totalMs).toBe(1_000 + 450);
  pauses.stop();
  expect(clock.pending).toEqual([]);
});
