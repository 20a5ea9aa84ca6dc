import { type LoadMetric, loadMetricNames, type Threshold } from '../../config/threshold.ts';
import { type Estimate, estimate } from './estimate.ts';
import type { LoadResult } from './result.ts';
import type { LoadProgress } from './run-load.ts';
import { type SecondSummary, summariseSecond } from './summary.ts';
import { type JudgedThreshold, judgeThreshold } from './thresholds.ts';

const liveStatistics = ['p50', 'p95', 'p99', 'max'] as const;
export type LiveStatistic = (typeof liveStatistics)[number];

/** The times of a metric over the whole run so far. */
export interface LiveTimes {
  metric: LoadMetric | 'sent late';
  statistics: Record<LiveStatistic, Estimate>;
}

/** The figures of a run so far, for a screen. */
export interface LiveLoad {
  /** The last second alone. */
  last: SecondSummary;
  /** Of the whole run so far, like everything below. */
  counts: LoadResult['counts'];
  failures: LoadResult['failures'];
  times: LiveTimes[];
  thresholds: JudgedThreshold[];
  core: number | null;
}

/** Reads the figures of a running load: cheap enough to do once a second beside a generator. */
export function readLive({ second, totals, core }: LoadProgress, thresholds: readonly Threshold[]): LiveLoad {
  const { counts, failures, metrics, lateness, series } = totals;
  const times = loadMetricNames.flatMap((metric): LiveTimes[] => {
    const measured = metrics.get(metric);
    return measured === undefined ? [] : readTimes(metric, (name) => estimate(measured, name));
  });
  const late = readTimes('sent late', (name) => {
    const us = name === 'max' ? lateness.max : lateness.at(Number(name.slice(1)));
    return us === undefined ? undefined : { ms: us / 1000, isLowerBound: false };
  });
  return {
    last: summariseSecond(series.at(second)),
    counts: { ...counts },
    failures: { ...failures },
    times: [...times, ...late],
    thresholds: thresholds.map((threshold) => judgeThreshold(threshold, totals)),
    core: core ?? null,
  };
}

function readTimes(
  metric: LiveTimes['metric'],
  read: (statistic: LiveStatistic) => Estimate | undefined,
): LiveTimes[] {
  const entries = liveStatistics.map((name) => [name, read(name)] as const);
  if (entries.some(([, value]) => value === undefined)) return [];
  return [{ metric, statistics: Object.fromEntries(entries) as LiveTimes['statistics'] }];
}
