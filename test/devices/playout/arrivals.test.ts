import { expect, test } from 'vitest';
import { createArrivals } from '../../../src/devices/playout/arrivals.ts';

/** Messages of 20 ms in real time for half a minute. Every five seconds those of 300 ms are read all at once. */
function hear(isDelayedByUs: boolean) {
  const arrivals = createArrivals();
  for (let at = 1_000; at <= 30_000; at += 20) {
    const lateMs = Math.max(0, 300 - (at % 5_000));
    arrivals.add(640, at + lateMs, lateMs > 0 && isDelayedByUs);
  }
  return arrivals.latenessMs;
}

test('messages that come late again and again are jitter, but not those that this process reads late', () => {
  expect(hear(false)).toBe(300);
  expect(hear(true)).toBe(0);
});
