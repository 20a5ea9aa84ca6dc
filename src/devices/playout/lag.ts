import { createMinimum } from './minimum.ts';

/** Detects that a device plays later than before because it or its server was held up. */
export interface Lag {
  /**
   * Takes how much audio the device has received and not played. Returns the excess if it persists: then the device
   * must receive nothing for this long.
   */
  note(behindMs: number, now: number): number;
}

/** The minimum of this many values counts: programs report in steps. */
const values = 6;
/** A larger increase is a delay and not jitter of the reports. */
const lagMs = 30;
/** After this time the correction shows in the reports. */
const settleMs = 250;
/** A device that is late again after this many corrections within this time has become slower, as after a change of device. */
const corrections = 5;
const correctionsMs = 10_000;

/** Only values of a playing device may be noted. */
export function createLag(): Lag {
  const recent = createMinimum(values);
  let leastMs = Number.POSITIVE_INFINITY;
  let judgeAt = Number.NEGATIVE_INFINITY;
  let corrected: number[] = [];
  return {
    note(behindMs, now) {
      if (now < judgeAt) return 0;
      recent.add(behindMs);
      if (!recent.isFull) return 0;
      leastMs = Math.min(leastMs, recent.value);
      const overMs = recent.value - leastMs;
      if (overMs < lagMs) return 0;
      corrected = corrected.filter((at) => now - at < correctionsMs);
      if (corrected.length >= corrections) {
        leastMs = recent.value;
        corrected = [];
        return 0;
      }
      corrected.push(now);
      judgeAt = now + overMs + settleMs;
      recent.clear();
      return overMs;
    },
  };
}
