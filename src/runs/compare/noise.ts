import statistics from 'jstat';
import { fewestRuns } from './run-set.ts';

/** In this share of comparisons of equal runs a figure may look worse. */
export const falseAlarms = 0.003;

/** One figure of several runs, on its scale. */
export interface SampledFigure {
  /** One per run. */
  values: readonly number[];
  /** The standard error within each run. */
  noises: readonly number[];
}

/** How far the means of two sets of runs differ, and how far they may differ by chance. */
export interface Deviation {
  difference: number;
  /** A larger difference is not chance. Without enough runs it includes only the noise within the runs. */
  limit: number;
  isKnown: boolean;
}

/**
 * Compares one figure of `next` with the baseline `base`. The noise of a run is how much the runs of the baseline differ,
 * and those of `next` if it has several, but at least the noise within them. The limit is a one-sided prediction interval of
 * Student's t for a new run; each of the `figures` figures gets its part of the false alarms.
 */
export function deviationOf(base: SampledFigure, next: SampledFigure, figures: number): Deviation {
  const difference = statistics.mean(next.values) - statistics.mean(base.values);
  const within = Math.max(rootMeanSquare(base.noises), rootMeanSquare(next.noises));
  const chance = 1 - falseAlarms / Math.max(1, figures);
  const both = Math.sqrt(1 / base.values.length + 1 / next.values.length);
  const runs = base.values.length;
  if (runs < fewestRuns)
    return { difference, limit: statistics.normal.inv(chance, 0, 1) * within * both, isKnown: false };
  // Several new runs also show how much runs differ by chance.
  const degrees = runs + next.values.length - 2;
  const squares = deviations(base.values) + deviations(next.values);
  const spread = Math.max(Math.sqrt(squares / degrees), within);
  return { difference, limit: statistics.studentt.inv(chance, degrees) * spread * both, isKnown: true };
}

/** The sum of the squared differences from the mean. */
function deviations(values: readonly number[]): number {
  const mean = statistics.mean(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}

function rootMeanSquare(values: readonly number[]): number {
  return Math.sqrt(statistics.mean(values.map((value) => value * value)));
}
