import { parseThreshold, type Threshold } from '../../config/threshold.ts';
import { type Estimate, estimate } from './estimate.ts';
import type { Totals } from './result.ts';

/** A threshold with the measured value. */
export interface JudgedThreshold {
  text: string;
  /** Whether it certainly holds: a time of which only a lower bound is known does not. */
  holds: boolean;
  /** In the unit of the limit: milliseconds, a share from 0 to 1, or a count. Null if nothing was measured. */
  value: number | null;
  isLowerBound: boolean;
  limit: number;
  unit: 'ms' | 'share' | 'count';
}

/** Judges a threshold. Without a measured value it does not hold. */
export function judgeThreshold(threshold: Threshold, totals: Totals): JudgedThreshold {
  const { text, limit, isInclusive, statistic } = threshold;
  const unit = statistic === 'share' || statistic === 'count' ? statistic : 'ms';
  const measured = measure(threshold, totals);
  const base = { text, limit, unit } as const;
  if (measured === undefined) return { ...base, holds: false, value: null, isLowerBound: false };
  const { ms: value, isLowerBound } = measured;
  const isWithin = isInclusive ? value <= limit : value < limit;
  return { ...base, holds: isWithin && !isLowerBound, value, isLowerBound };
}

function measure(threshold: Threshold, { counts, failures, metrics }: Totals): Estimate | undefined {
  if (threshold.metric !== 'failed' && threshold.metric !== 'unclean') {
    const times = metrics.get(threshold.metric);
    if (times !== undefined) return estimate(times, threshold.statistic);
    // In a reply of one message there is no gap and no jitter, like in `audioLimits`.
    const isBetweenMessages = threshold.metric === 'gap' || threshold.metric === 'jitter';
    return isBetweenMessages && counts.replies > 0 ? { ms: 0, isLowerBound: false } : undefined;
  }
  const { failed, dropped, arrived } = counts;
  const count = threshold.metric === 'failed' ? failed + dropped : (failures['unclean-audio'] ?? 0);
  const value = threshold.statistic === 'count' ? count : count / Math.max(1, arrived + dropped);
  return { ms: value, isLowerBound: false };
}

/** Whether a threshold is certainly crossed while the run is still going on. */
export function isCrossed(threshold: Threshold, totals: Totals): boolean {
  const { value, limit } = judgeThreshold(threshold, totals);
  return value !== null && (threshold.isInclusive ? value > limit : value >= limit);
}

const abortFlag = '--abort-on ';

/** Why a run ended early: this threshold was crossed. */
export function abortText({ text }: Threshold): string {
  return `${abortFlag}${text}`;
}

/** The threshold that ended a run early; undefined if something else did. */
export function abortThreshold(stopped: string | null): Threshold | undefined {
  if (!stopped?.startsWith(abortFlag)) return undefined;
  try {
    return parseThreshold(stopped.slice(abortFlag.length));
  } catch {
    // The text is from a file.
    return undefined;
  }
}
