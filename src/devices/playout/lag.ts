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

/** Only values from a device that plays may be noted. */
export function createLag(): Lag {
  const recent = createMinimum(values);
  let usualMs = Number.POSITIVE_INFINITY;
  let judgeAt = Number.NEGATIVE_INFINITY;
  let before: { behindMs: number; heldMs: number } | undefined;
  return {
    note(behindMs, now) {
      if (now < judgeAt) return 0;
      recent.add(behindMs);
      if (!recent.isFull) return 0;
      const leastMs = recent.value;
      // Held back in vain: the device itself has become slower, as one does that is exchanged for another.
      if (before !== undefined && leastMs > before.behindMs - before.heldMs / 2) usualMs = leastMs;
      before = undefined;
      usualMs = Math.min(usualMs, leastMs);
      const overMs = leastMs - usualMs;
      if (overMs < lagMs) return 0;
      before = { behindMs, heldMs: overMs };
      judgeAt = now + overMs + settleMs;
      recent.clear();
      return overMs;
    },
  };
}
