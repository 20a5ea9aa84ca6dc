import { createMinimum } from './minimum.ts';

/** Finds out that a device plays later than it did, because it or its server was held up. */
export interface Lag {
  /**
   * Takes how much audio the device was given and has not played. Returns by how much that is too much, where it
   * stays so: the device is to be given nothing for this long.
   */
  note(behindMs: number, now: number): number;
}

/** Judged by the least of so many values: what a program tells of itself comes in steps. */
const values = 6;
/** So much more than before is a delay and not the jitter of its reports. */
const lagMs = 30;
/** What was held back shows in the reports after this time. */
const settleMs = 250;
/** A device that is late again after so many corrections in this time has become slower, as one that is exchanged for another. */
const corrections = 5;
const correctionsMs = 10_000;

/** Only values from a device that plays may be noted. */
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
