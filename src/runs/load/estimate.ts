import type { TimeStatistic } from '../../config/threshold.ts';
import { rankOf } from '../../kernel/nearest-rank.ts';
import type { MetricTimes } from './result.ts';
import { percentileOf } from './series.ts';

/** A statistic of times. Some are only known to be longer than their age. */
export interface Estimate {
  /** Milliseconds: at most this, or with `isLowerBound` at least this. */
  ms: number;
  /** Whether it is, or could be, the age of something that did not finish. */
  isLowerBound: boolean;
}

/** Undefined if there are no times. */
export function estimate(
  { finished, unfinished }: MetricTimes,
  statistic: TimeStatistic,
): Estimate | undefined {
  const count = finished.count + unfinished.count;
  if (count === 0) return undefined;
  const has = unfinished.count > 0;
  switch (statistic) {
    case 'min': {
      const [known, atLeast] = [finished.min ?? Infinity, unfinished.min ?? Infinity];
      return { ms: Math.min(known, atLeast) / 1000, isLowerBound: atLeast < known };
    }
    case 'max':
      return { ms: Math.max(finished.max ?? 0, unfinished.max ?? 0) / 1000, isLowerBound: has };
    case 'mean': {
      const sum = finished.mean * finished.count + unfinished.mean * unfinished.count;
      return { ms: sum / count / 1000, isLowerBound: has };
    }
    default:
      return percentile({ finished, unfinished }, Number(statistic.slice(1)));
  }
}

/**
 * If the percentile is a finished time even when all unfinished ones count as the longest, it is known. Otherwise it is at
 * least the percentile with ages instead of the unknown times.
 */
function percentile({ finished, unfinished }: MetricTimes, percent: number): Estimate {
  if (unfinished.count === 0) return { ms: finished.at(percent) / 1000, isLowerBound: false };
  const rank = rankOf(percent, finished.count + unfinished.count);
  if (rank <= finished.count) return { ms: finished.nth(rank) / 1000, isLowerBound: false };
  const all = [...finished.values(), ...unfinished.values()].sort(([a], [b]) => a - b);
  return { ms: percentileOf(all, percent) ?? 0, isLowerBound: true };
}
