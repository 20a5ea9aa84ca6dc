import { rankOf } from '../load/histogram.ts';

/** The percentiles of each time that are compared. */
export const comparedPercents = [50, 95, 99] as const;

/** A measured value of one run. */
export interface Figure {
  /** `first-audio:p95`, or `failed`. */
  name: string;
  /** Milliseconds; of `failed` a share from 0 to 1. */
  value: number;
  /** Standard error within the run, on the scale of `toScale`. */
  noise: number;
  /** Whether the value is the age of something that did not finish. */
  isLowerBound: boolean;
}

/** The name of the share of sessions that failed. */
export const failedFigure = 'failed';

/** Times in ascending order, in milliseconds. */
export interface SortedTimes {
  readonly count: number;
  /** The time at this place, from 1. */
  nth(rank: number): number;
}

/** Fewer values beyond a percentile say little about it. */
const fewestBeyond = 5;

export interface TimeFigureOptions {
  /** The smallest difference that is measured, in milliseconds. */
  resolutionMs: number;
  /** The number of values, those included that did not finish. */
  count: number;
  /** The value at a percentile, where some did not finish. */
  at(percent: number): { ms: number; isLowerBound: boolean };
}

/**
 * The percentiles of a time. A percentile is left out where fewer than five values are beyond it; the median is always
 * there. Its standard error comes from the order of the values: the places half a deviation of a binomial away.
 */
export function timeFigures(
  metric: string,
  finished: SortedTimes,
  { resolutionMs, count, at }: TimeFigureOptions,
): Figure[] {
  const enough = comparedPercents.filter(
    (percent) => percent === 50 || (count * (100 - percent)) / 100 >= fewestBeyond,
  );
  if (count === 0) return [];
  return enough.map((percent) => {
    const { ms, isLowerBound } = at(percent);
    const value = Math.max(ms, resolutionMs);
    const spread = Math.sqrt((count * percent * (100 - percent)) / 10_000);
    const place = (rank: number) => Math.max(1, Math.min(finished.count, Math.round(rank)));
    const rank = rankOf(percent, count);
    const [low, high] =
      finished.count === 0
        ? [value, value]
        : [finished.nth(place(rank - spread)), finished.nth(place(rank + spread))];
    const order = Math.log(Math.max(high, resolutionMs) / Math.max(low, resolutionMs)) / 2;
    return {
      name: `${metric}:p${percent}`,
      value,
      noise: Math.max(order, resolutionMs / value / 2),
      isLowerBound,
    };
  });
}

/** The share of `count` sessions that failed. */
export function failedShare(failed: number, count: number): Figure[] {
  if (count === 0) return [];
  return [
    { name: failedFigure, value: failed / count, noise: 1 / (2 * Math.sqrt(count)), isLowerBound: false },
  ];
}

/**
 * The scale on which the noise of a figure does not depend on its value: the logarithm of a time, so that noise is a
 * share of it; the arc sine of the root of a share.
 */
export function toScale({ name, value }: Pick<Figure, 'name' | 'value'>): number {
  return name === failedFigure ? Math.asin(Math.sqrt(Math.min(1, Math.max(0, value)))) : Math.log(value);
}

/** The value at a place of the scale. */
export function fromScale(name: string, place: number): number {
  if (name !== failedFigure) return Math.exp(place);
  return Math.sin(Math.min(Math.PI / 2, Math.max(0, place))) ** 2;
}
