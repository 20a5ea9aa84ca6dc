import { createWindow } from './window.ts';

/**
 * Keeps the delay of a device that is paced by our clock. Detects when it plays later than before because it or its server
 * was held up. Corrects the small difference between its clock and ours.
 */
export interface Lag {
  /** Takes a report. Returns the excess delay if it persists: send the device nothing for this long. */
  judge(report: LagReport, now: number): number;
  /**
   * By how much to lengthen the interval between frames so that the delay stays the same: 0.001 is 0.1 %. 0 if the reports
   * are not precise.
   */
  readonly easing: number;
}

export interface LagReport {
  /** How much audio the device has received but not played, plus or minus a constant. */
  readonly behindMs: number;
  /** How much of it the device has accepted, if that is known. It wants no more, so the rest is too much. */
  readonly heldMs?: number | undefined;
}

/** The minimum of this many values counts, because programs report in steps. */
const values = 6;
/** A larger increase is a delay, not jitter of the reports. Reports with `heldMs` are precise. */
const lagMs = { precise: 20, coarse: 30 };
/** After this time the reports show the correction. */
const settleMs = 250;
/** A device that is late again after this many corrections within this time is simply slower now, such as another device. */
const corrections = 5;
const correctionsMs = 10_000;
/** The delay to keep is learnt from this many values. */
const learntValues = 20;
/** A device that suddenly is faster by this much has changed. */
const slipMs = 10;
/** A smaller deviation is not corrected. */
const toleranceMs = 5;
/** Beyond the tolerance, each millisecond of deviation is corrected within this time. */
const easingMs = 2_000;
/** The largest correction. The clocks of sound cards differ by 0.1 %; the rest makes up for what has accumulated. */
const maxEasing = 0.005;

/** Pass only reports of a device that is playing. */
export function createLag(): Lag {
  const recent = createWindow(values);
  const recentWaiting = createWindow(values);
  /** The delay to keep. */
  let leastMs = Number.POSITIVE_INFINITY;
  let learnt = 0;
  let isPrecise = false;
  let judgeAt = Number.NEGATIVE_INFINITY;
  let corrected: number[] = [];
  const excessMs = () => {
    const overMs = recent.least - leastMs;
    return recentWaiting.least > 0 ? Math.max(overMs, recentWaiting.least) : overMs;
  };
  return {
    judge({ behindMs, heldMs }, now) {
      isPrecise = heldMs !== undefined;
      if (now < judgeAt) return 0;
      recent.add(behindMs);
      recentWaiting.add(behindMs - (heldMs ?? behindMs));
      if (!recent.isFull) return 0;
      learnt += 1;
      // Single reports may be far too low.
      if (recent.median < leastMs - (learnt > learntValues ? slipMs : 0)) leastMs = recent.median;
      const overMs = excessMs();
      if (overMs < (isPrecise ? lagMs.precise : lagMs.coarse)) return 0;
      corrected = corrected.filter((at) => now - at < correctionsMs);
      if (corrected.length >= corrections) {
        leastMs = recent.median;
        corrected = [];
        return 0;
      }
      corrected.push(now);
      judgeAt = now + overMs + settleMs;
      recent.clear();
      recentWaiting.clear();
      return overMs;
    },
    get easing() {
      if (!isPrecise || !recent.isFull) return 0;
      const offMs = excessMs();
      const beyondMs = Math.sign(offMs) * Math.max(0, Math.abs(offMs) - toleranceMs);
      return Math.max(-maxEasing, Math.min(maxEasing, beyondMs / easingMs));
    },
  };
}
