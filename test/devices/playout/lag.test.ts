import { describe, expect, test } from 'vitest';
import { createLag } from '../../../src/devices/playout/lag.ts';

/** Tells a value every 50 ms; returns when it was found to be too much, and by how much. */
function tell(
  lag: ReturnType<typeof createLag>,
  values: (index: number) => number,
  count: number,
  fromMs = 0,
) {
  const found: { at: number; ms: number }[] = [];
  for (let i = 0; i < count; i += 1) {
    const ms = lag.judge({ behindMs: values(i) }, fromMs + i * 50);
    if (ms > 0) found.push({ at: i * 50, ms });
  }
  return found;
}

describe('the lag of a device', () => {
  test('is 0 while its delay is constant, however its reports jitter', () => {
    const lag = createLag();
    expect(tell(lag, (i) => 60 + (i % 5) * 12, 200)).toEqual([]);
  });

  test('is found once, within half a second of a stall', () => {
    const lag = createLag();
    tell(lag, () => 60, 40);
    // It is given nothing for as long as was found, and then plays as before.
    const found = tell(lag, (i) => (i < 12 ? 560 : 60), 60, 2_000);
    expect(found).toEqual([{ at: expect.closeTo(250, -2), ms: 500 }]);
    expect(found[0]!.at).toBeLessThan(500);
  });

  test('that comes back after five corrections is its new delay', () => {
    const lag = createLag();
    tell(lag, () => 60, 40);
    expect(tell(lag, () => 260, 240, 2_000)).toHaveLength(5);
    expect(tell(lag, () => 260, 400, 14_000)).toEqual([]);
    expect(tell(lag, (i) => (i < 12 ? 560 : 260), 60, 34_000)).toHaveLength(1);
  });

  test('is found each time the device is held up', () => {
    const lag = createLag();
    tell(lag, () => 60, 40);
    let from = 2_000;
    for (let stall = 0; stall < 20; stall += 1, from += 12_000) {
      expect(tell(lag, (i) => (i < 12 ? 360 : 60), 240, from)).toHaveLength(1);
    }
  });

  test('is not found in a count that drifts downwards', () => {
    const lag = createLag();
    expect(tell(lag, (i) => 60 - i * 2, 500)).toEqual([]);
  });

  test.each([
    ['faster', 0.001],
    ['slower', -0.001],
  ])('does not grow or shrink on a device whose clock is %s', (_, drift) => {
    const lag = createLag();
    let [writtenMs, playedMs, nextAt] = [60, 0, 0];
    const behind: number[] = [];
    for (let now = 0; now < 300_000; now += 50) {
      for (; nextAt <= now; nextAt += 20 * (1 + lag.easing)) writtenMs += 20;
      playedMs += now === 0 ? 0 : 50 * (1 + drift);
      const behindMs = writtenMs - (nextAt - now) - playedMs;
      behind.push(behindMs);
      expect(lag.judge({ behindMs, heldMs: behindMs + 10 }, now)).toBe(0);
    }
    const least = (values: number[]) => Math.min(...values);
    expect(Math.abs(least(behind.slice(-100)) - least(behind.slice(0, 20)))).toBeLessThan(10);
  });

  test('is the audio that waits for a device that accepts no more, even if it was never less', () => {
    const lag = createLag();
    const found = Array.from({ length: 30 }, (_, i) =>
      lag.judge({ behindMs: i < 8 ? 1_170 : 30, heldMs: 30 }, i * 50),
    );
    expect(found.filter((ms) => ms > 0)).toEqual([1_140]);
  });

  test('is corrected slowly if it is small, but only with precise reports', () => {
    const [precise, coarse] = [createLag(), createLag()];
    for (let i = 0; i < 30; i += 1) {
      const behindMs = i < 10 ? 20 : 35;
      expect(precise.judge({ behindMs, heldMs: behindMs + 5 }, i * 50)).toBe(0);
      expect(coarse.judge({ behindMs }, i * 50)).toBe(0);
    }
    expect(precise.easing).toBeCloseTo(0.005, 6);
    expect(coarse.easing).toBe(0);
  });
});
