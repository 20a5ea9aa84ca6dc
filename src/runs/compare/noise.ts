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
 * by, with those of `next` where it has several, but at least the noise within them. The limit is that of Student's t for a new run (a prediction
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
  // Several new runs also show how much runs differ by themselves.
  const degrees = runs + next.values.length - 2;
  const squares = deviations(base.values) + deviations(next.values);
  const spread = Math.max(Math.sqrt(squares / degrees), within);
  return { difference, limit: statistics.studentt.inv(chance, degrees) * spread * both, isKnown: true };
}

/** The sum of the squares of what values differ from their mean by. */
function deviations(values: readonly number[]): number {
  const mean = statistics.mean(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}

function rootMeanSquare(values: readonly number[]): number {
  return Math.sqrt(statistics.mean(values.map((value) => value * value)));
}
