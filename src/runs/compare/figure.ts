import { dialogueRules } from '../../audio/dialogue/rules.ts';
import { rankOf } from '../../kernel/nearest-rank.ts';

/** The percentiles of each time that are compared. */
const comparedPercents = [50, 95, 99] as const;

/** A measured value of one run. */
export interface Figure {
  /** `first-audio:p95`, or `failed`. */
  name: string;
  /** Milliseconds; for `failed` a share from 0 to 1. */
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
  /** The time at this rank, from 1. */
  nth(rank: number): number;
}

/** Times of turn-taking: not compared if there are fewer events than `fewestCompared`. */
const ofTurnTaking: ReadonlySet<string> = new Set(['response', 'yield', 'talk-over']);
/** Fewer values beyond a percentile say little about it. */
const fewestBeyond = 5;

export interface TimeFigureOptions {
  /** The smallest difference that is measured, in milliseconds. */
  resolutionMs: number;
  /** The same as a share of the time: the width of a histogram class. */
  resolutionShare: number;
  /** The number of values, including those that did not finish. */
  count: number;
  /** The value at a percentile, taking into account what did not finish. */
  at(percent: number): { ms: number; isLowerBound: boolean };
}

/**
 * The percentiles of a time. A percentile is left out if fewer than five values are beyond it, except the median. Its
 * standard error comes from the order of the values: from the ranks one standard deviation of a binomial away.
 */
export function timeFigures(
  metric: string,
  finished: SortedTimes,
  { resolutionMs, resolutionShare, count, at }: TimeFigureOptions,
): Figure[] {
  const enough = comparedPercents.filter(
    (percent) => percent === 50 || (count * (100 - percent)) / 100 >= fewestBeyond,
  );
  if (count < (ofTurnTaking.has(metric) ? dialogueRules.fewestCompared : 1)) return [];
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
      noise: Math.max(order, resolutionMs / value / 2, resolutionShare / 2),
      isLowerBound,
    };
  });
}

/** The p95 of a time as a multiple of its median. */
const tailName = ':p95/p50';

export const isTail = (name: string) => name.endsWith(tailName);

/** The figures from which a tail is computed: `first-audio:p95` and `first-audio:p50`. */
export function partsOfTail(name: string): { p95: string; p50: string } {
  const metric = name.slice(0, -tailName.length);
  return { p95: `${metric}:p95`, p50: `${metric}:p50` };
}

/** Times within a reply or a turn: a slow run does not make them longer as a whole. */
const withinReplies = /^(jitter|gap|talk-over):/;

/** The correlation of p50 and p95 of one sample: √(p (1 - q) / (q (1 - p))). */
const sharedNoise = Math.sqrt((0.5 * 0.05) / (0.95 * 0.5));

/**
 * The tail of each time, except jitter, gap and talk-over, relative to its median. It does not depend on whether a whole run
 * is slower or quicker, so it varies less between runs than the p95.
 */
export function tailFigures(figures: readonly Figure[]): Figure[] {
  const find = (name: string) => figures.find((one) => one.name === name);
  return figures.flatMap((p50) => {
    if (!p50.name.endsWith(':p50') || p50.isLowerBound || withinReplies.test(p50.name)) return [];
    const name = `${p50.name.slice(0, -':p50'.length)}${tailName}`;
    const p95 = find(partsOfTail(name).p95);
    if (p95 === undefined) return [];
    const noise = Math.sqrt(p95.noise ** 2 + p50.noise ** 2 - 2 * sharedNoise * p95.noise * p50.noise);
    return [{ name, value: p95.value / p50.value, noise, isLowerBound: p95.isLowerBound }];
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
 * Converts to a scale on which the noise of a figure does not depend on its value: the logarithm of a time, so that noise is
 * a share of it; the arc sine of the square root of a share.
 */
export function toScale({ name, value }: Pick<Figure, 'name' | 'value'>): number {
  return name === failedFigure ? Math.asin(Math.sqrt(Math.min(1, Math.max(0, value)))) : Math.log(value);
}

/** Converts back from that scale. */
export function fromScale(name: string, place: number): number {
  if (name !== failedFigure) return Math.exp(place);
  return Math.sin(Math.min(Math.PI / 2, Math.max(0, place))) ** 2;
}
