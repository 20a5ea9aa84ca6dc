import type { LoadMetric } from '../config/threshold.ts';
import type { LiveLoad } from '../runs/load/live.ts';

/** The values that have a sparkline. */
export type HistoryName = LoadMetric | 'sent late' | 'open' | 'core';

/** The whole run in steps of equal length: the longer it is, the longer the steps. */
export interface RunHistory {
  /** Seconds in a step. */
  each: number;
  /** The highest value in each step; for times, the highest 95th percentile of a second, in milliseconds. */
  values: Partial<Record<HistoryName, readonly (number | undefined)[]>>;
}

/** Maximum number of steps that are kept; beyond that, every two become one. */
const maxSteps = 512;

export const emptyHistory: RunHistory = { each: 1, values: {} };

/** Adds the last second of a run. */
export function addSecond(history: RunHistory, { last, core }: Pick<LiveLoad, 'last' | 'core'>): RunHistory {
  const fitting = Math.floor(last.second / history.each) < maxSteps ? history : joinSteps(history);
  if (fitting !== history) return addSecond(fitting, { last, core });
  const times = Object.entries(last.times) as [LoadMetric, { p95: number }][];
  const seen: [HistoryName, number | null | undefined][] = [
    ...times.map(([metric, { p95 }]): [HistoryName, number] => [metric, p95]),
    ['open', last.open],
    ['sent late', last.late?.p95],
    ['core', core],
  ];
  const step = Math.floor(last.second / history.each);
  const values = { ...history.values };
  for (const [name, value] of seen) {
    if (typeof value !== 'number') continue;
    const steps = [...(values[name] ?? [])];
    steps[step] = Math.max(steps[step] ?? 0, value);
    values[name] = Array.from(steps);
  }
  return { ...history, values };
}

function joinSteps({ each, values }: RunHistory): RunHistory {
  const joined = Object.entries(values).map(([name, steps]) => [
    name,
    Array.from({ length: Math.ceil(steps.length / 2) }, (_, index) =>
      highest(steps.slice(2 * index, 2 * index + 2)),
    ),
  ]);
  return { each: each * 2, values: Object.fromEntries(joined) };
}

/** The values in at most this many columns. A column without a value is a gap. */
export function toColumns(
  values: readonly (number | undefined)[],
  columns: number,
): readonly (number | undefined)[] {
  const per = Math.ceil(values.length / Math.max(1, columns));
  if (per <= 1) return values;
  return Array.from({ length: Math.ceil(values.length / per) }, (_, index) =>
    highest(values.slice(index * per, (index + 1) * per)),
  );
}

function highest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
