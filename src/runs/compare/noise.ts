import statistics from 'jstat';
import { fewestRuns } from './run-set.ts';

/** The share of comparisons of equal runs in which any figure is allowed to look worse. */
export const falseAlarms = 0.003;

/** One figure of some runs, on its scale. */
export interface SampledFigure {
  /** One for each run. */
  values: readonly number[];
  /** The standard error within each run. */
  noises: readonly number[];
}

/** How far the mean of one set of runs is from that of another, and how far it may be by chance. */
export interface Deviation {
  difference: number;
  /** A larger difference is no chance; without enough runs it knows the noise within the runs alone. */
  limit: number;
  isKnown: boolean;
}

/**
 * Compares one figure of `next` with that of the baseline `base`. The noise of a run is what runs of the baseline differ
 * by, but at least the noise within them and within `next`. The limit is that of Student's t for a new run (a prediction
 * interval, one-sided); each of `figures` figures gets its part of the false alarms.
 */
export function deviationOf(base: SampledFigure, next: SampledFigure, figures: number): Deviation {
  const difference = statistics.mean(next.values) - statistics.mean(base.values);
  const within = Math.max(rootMeanSquare(base.noises), rootMeanSquare(next.noises));
  const chance = 1 - falseAlarms / Math.max(1, figures);
  const both = Math.sqrt(1 / base.values.length + 1 / next.values.length);
  const runs = base.values.length;
  if (runs < fewestRuns)
    return { difference, limit: statistics.normal.inv(chance, 0, 1) * within * both, isKnown: false };
  const spread = Math.max(statistics.stdev(base.values, true), within);
  return { difference, limit: statistics.studentt.inv(chance, runs - 1) * spread * both, isKnown: true };
}

function rootMeanSquare(values: readonly number[]): number {
  return Math.sqrt(statistics.mean(values.map((value) => value * value)));
}
