import { describe, expect, test } from 'vitest';
import { raiseMeter, readMeter, restingMeter } from '../../src/ui/meter.ts';

const loud = { rmsDbfs: -10, peakDbfs: -4 };
const soft = { rmsDbfs: -40, peakDbfs: -35 };

describe('a level meter', () => {
  test('rises at once and holds the peak for a second and a half', () => {
    const meter = raiseMeter(restingMeter, 1_000, loud);
    expect(readMeter(meter, 1_000)).toEqual({ rmsDbfs: -10, heldDbfs: -4, isClipped: false });
    expect(readMeter(raiseMeter(meter, 2_400, soft), 2_400).heldDbfs).toBe(-4);
    expect(readMeter(meter, 3_500).heldDbfs).toBeCloseTo(-24, 5);
  });

  test('falls slowly to a softer level, and never below it', () => {
    const meter = raiseMeter(raiseMeter(restingMeter, 0, loud), 100, soft);
    expect(readMeter(meter, 100).rmsDbfs).toBeCloseTo(-15, 5);
    let falling = meter;
    for (let t = 200; t <= 2_000; t += 100) falling = raiseMeter(falling, t, soft);
    expect(readMeter(falling, 2_000).rmsDbfs).toBe(-40);
  });

  test('falls to silence when no more audio comes', () => {
    const meter = raiseMeter(restingMeter, 0, loud);
    expect(readMeter(meter, 150).rmsDbfs).toBe(-10);
    expect(readMeter(meter, 60_000)).toEqual({ rmsDbfs: -100, heldDbfs: -100, isClipped: false });
  });

  test('shows clipping for three seconds', () => {
    const meter = raiseMeter(raiseMeter(restingMeter, 0, { ...loud, clipped: true }), 20, loud);
    expect(readMeter(meter, 2_999).isClipped).toBe(true);
    expect(readMeter(meter, 3_000).isClipped).toBe(false);
  });
});
