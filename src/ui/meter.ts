/** A level meter: quick to rise, slow to fall, with its peak held. All levels in dBFS, all times in milliseconds. */
export interface Meter {
  at: number;
  rmsDbfs: number;
  held: { at: number; dbfs: number };
  clippedAt: number | undefined;
}

/** What a meter shows at a moment. */
export interface MeterReading {
  rmsDbfs: number;
  heldDbfs: number;
  isClipped: boolean;
}

const floorDbfs = -100;
/** Frames of 20 ms may be a few frames late before a meter falls. */
const steadyMs = 150;
const fallDbPerMs = 0.05;
const holdMs = 1_500;
const heldFallDbPerMs = 0.02;
const clipShownMs = 3_000;

export const restingMeter: Meter = {
  at: 0,
  rmsDbfs: floorDbfs,
  held: { at: 0, dbfs: floorDbfs },
  clippedAt: undefined,
};

export function raiseMeter(
  meter: Meter,
  now: number,
  level: { rmsDbfs: number; peakDbfs: number; clipped?: boolean | undefined },
): Meter {
  const shown = readMeter(meter, now);
  return {
    at: now,
    rmsDbfs: Math.max(level.rmsDbfs, Math.min(shown.rmsDbfs, meter.rmsDbfs - (now - meter.at) * fallDbPerMs)),
    held: level.peakDbfs >= shown.heldDbfs ? { at: now, dbfs: level.peakDbfs } : meter.held,
    clippedAt: level.clipped ? now : meter.clippedAt,
  };
}

export function readMeter({ at, rmsDbfs, held, clippedAt }: Meter, now: number): MeterReading {
  const fallen = Math.max(0, now - at - steadyMs) * fallDbPerMs;
  const heldFallen = Math.max(0, now - held.at - holdMs) * heldFallDbPerMs;
  return {
    rmsDbfs: Math.max(floorDbfs, rmsDbfs - fallen),
    heldDbfs: Math.max(floorDbfs, held.dbfs - heldFallen),
    isClipped: clippedAt !== undefined && now - clippedAt < clipShownMs,
  };
}
