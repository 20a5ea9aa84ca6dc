import { describe, expect, test } from 'vitest';
import { createBurstMeter } from '../../../src/devices/host/burst-meter.ts';

/** What the meter says last, for frames taken at these moments. */
function measure(times: readonly number[]): number {
  const meter = createBurstMeter();
  return times.reduce((_, now) => meter.accepted(now), 1);
}

/** `count` bursts of `size` frames, one burst every `everyMs`. */
const bursts = (count: number, size: number, everyMs: number, fromMs = 0) =>
  Array.from({ length: count * size }, (_, i) => fromMs + Math.floor(i / size) * everyMs);

describe('how many frames a device takes at once', () => {
  test.each([
    [1, 20],
    [2, 40],
    [10, 200],
  ])('is %i if it takes that many every %i ms', (size, everyMs) => {
    expect(measure(bursts(20, size, everyMs))).toBe(size);
  });

  test('does not include the frames that fill its queue at the start', () => {
    expect(measure([...bursts(1, 12, 0), ...bursts(20, 1, 20, 20)])).toBe(1);
  });

  test('is not changed when a device was held up once and catches up', () => {
    const before = bursts(20, 1, 20);
    const after = bursts(20, 1, 20, 600);
    expect(measure([...before, ...bursts(1, 8, 0, 580), ...after.slice(0, 3)])).toBe(1);
  });

  test('is not changed when a device catches up in many small bursts', () => {
    const intervals = Array.from({ length: 24 }, (_, i) => (i % 3 === 2 ? 6 : 4));
    let at = 700;
    const catchingUp = intervals.map((ms) => {
      at += ms;
      return at;
    });
    expect(measure([...bursts(20, 1, 20), ...catchingUp])).toBe(1);
  });

  test('follows a device that changes', () => {
    expect(measure([...bursts(20, 1, 20), ...bursts(10, 5, 100, 400)])).toBe(5);
    expect(measure([...bursts(10, 5, 100), ...bursts(20, 1, 20, 1_000)])).toBe(1);
  });
});
