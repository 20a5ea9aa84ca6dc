import {
  type LoadMetric,
  loadMetricNames,
  type Threshold,
  type TimeStatistic,
} from '../../config/threshold.ts';
import { type Estimate, estimate } from './estimate.ts';
import type { EncodedTimes } from './histogram.ts';
import { createTimes } from './histogram.ts';
import type { LoadResult, MetricTimes, ResultParts } from './result.ts';
import { encodeResult } from './result.ts';
import { percentileOf, type SeriesSecond, type SparseTimes } from './series.ts';
import { abortThreshold, type JudgedThreshold, judgeThreshold } from './thresholds.ts';
import { whyEnded, whyIncomplete, whyInvalid } from './validity.ts';

const shownStatistics = ['p50', 'p90', 'p95', 'p99', 'p99.9', 'max'] as const satisfies TimeStatistic[];
export type ShownStatistic = (typeof shownStatistics)[number];

/** One class of a distribution. */
export interface HistogramBar {
  fromMs: number;
  toMs: number;
  count: number;
  /** How many are ages of what did not finish. */
  unfinished: number;
}

export interface MetricSummary {
  metric: LoadMetric;
  count: number;
  unfinished: number;
  min: Estimate;
  mean: Estimate;
  statistics: Record<ShownStatistic, Estimate>;
  /** Classes of equal width on a logarithmic axis. */
  bars: HistogramBar[];
}

/** Milliseconds. */
export type SecondTimes = Record<'p50' | 'p95' | 'p99' | 'max', number>;

/** One second, for people. */
export interface SecondSummary extends Pick<SeriesSecond, 'second' | 'counts' | 'open'> {
  /** By metric; a metric without values in this second is left out. */
  times: Partial<Record<LoadMetric, SecondTimes>>;
  /** How late frames were sent and sessions started; null if there were none. */
  late: SecondTimes | null;
}

/** A result for reports: numbers instead of histograms. */
export interface LoadSummary
  extends Pick<LoadResult, 'facts' | 'shards' | 'counts' | 'failures' | 'generators' | 'stopped'> {
  metrics: MetricSummary[];
  thresholds: JudgedThreshold[];
  /** Why the run is not valid; empty if it is. */
  invalid: string[];
  /** How late frames were sent and sessions started, in milliseconds. */
  lateMs: { p50: number; p99: number; max: number };
  seconds: SecondSummary[];
}

/** A result and its summary. */
export interface JudgedResult {
  result: LoadResult;
  summary: LoadSummary;
}

/**
 * `isMerged`: in a merged result no shard may be missing, or may have ended before the others. A run or a shard that
 * `--abort-on` ended has crossed that threshold, even if it holds again at the end.
 */
export function judgeResult(
  parts: ResultParts,
  thresholds: readonly Threshold[],
  { isMerged = false } = {},
): JudgedResult {
  const result = encodeResult(parts);
  const { facts, shards, counts, failures, generators, stopped } = result;
  const { totals } = parts;
  const aborted = isMerged && shards.of > 1 ? undefined : abortThreshold(stopped);
  const isGiven = thresholds.some(({ text }) => text === aborted?.text);
  const judged = aborted === undefined || isGiven ? thresholds : [...thresholds, aborted];
  const whyUnplanned = aborted === undefined ? whyEnded(result) : [];
  const judge = (threshold: Threshold): JudgedThreshold => {
    const found = judgeThreshold(threshold, totals);
    return threshold.text === aborted?.text ? { ...found, holds: false } : found;
  };
  const summary: LoadSummary = {
    ...{ facts, shards, counts, failures, generators, stopped },
    metrics: summariseMetrics(totals.metrics),
    thresholds: judged.map(judge),
    invalid: [...whyInvalid(result), ...(isMerged ? [...whyIncomplete(shards), ...whyUnplanned] : [])],
    lateMs: latenessOf(result.lateness),
    seconds: result.series.map(summariseSecond),
  };
  return { result, summary };
}

function summariseMetrics(metrics: ReadonlyMap<LoadMetric, MetricTimes>): MetricSummary[] {
  return loadMetricNames.flatMap((metric) => {
    const times = metrics.get(metric);
    const [min, mean] = [times && estimate(times, 'min'), times && estimate(times, 'mean')];
    if (times === undefined || min === undefined || mean === undefined) return [];
    const statistics = Object.fromEntries(
      shownStatistics.map((name) => [name, estimate(times, name) ?? min]),
    ) as MetricSummary['statistics'];
    const { finished, unfinished } = times;
    const count = finished.count + unfinished.count;
    return [{ metric, count, unfinished: unfinished.count, min, mean, statistics, bars: barsOf(times) }];
  });
}

const mostBars = 48;
/** A class is at least this wide, as a factor. */
const smallestFactor = 1.03;

function barsOf({ finished, unfinished }: MetricTimes): HistogramBar[] {
  const low = Math.min(finished.min ?? Infinity, unfinished.min ?? Infinity);
  const high = Math.max(finished.max ?? 0, unfinished.max ?? 0);
  const widest = Math.log(high / low) / Math.log(smallestFactor);
  const bars = Math.max(1, Math.min(mostBars, Math.ceil(widest)));
  const factor = (high / low) ** (1 / bars);
  const all = Array.from(
    { length: bars },
    (_, index): HistogramBar => ({
      fromMs: (low * factor ** index) / 1000,
      toMs: (low * factor ** (index + 1)) / 1000,
      count: 0,
      unfinished: 0,
    }),
  );
  const add = (us: number, count: number, isUnfinished: boolean) => {
    const index = factor === 1 ? 0 : Math.floor(Math.log(us / low) / Math.log(factor));
    const bar = all[Math.min(bars - 1, Math.max(0, index))];
    if (bar === undefined) return;
    bar.count += count;
    if (isUnfinished) bar.unfinished += count;
  };
  for (const [us, count] of finished.values()) add(us, count, false);
  for (const [us, count] of unfinished.values()) add(us, count, true);
  return all;
}

function latenessOf(encoded: EncodedTimes): LoadSummary['lateMs'] {
  const times = createTimes(encoded);
  if (times.count === 0) return { p50: 0, p99: 0, max: 0 };
  return { p50: times.at(50) / 1000, p99: times.at(99) / 1000, max: (times.max ?? 0) / 1000 };
}

export function summariseSecond({ second, counts, open, times, late }: SeriesSecond): SecondSummary {
  const entries = loadMetricNames.flatMap((metric) => {
    const sparse = times[metric];
    return sparse === undefined ? [] : [[metric, secondTimes(sparse)] as const];
  });
  return {
    ...{ second, counts, open },
    times: Object.fromEntries(entries),
    late: late.length === 0 ? null : secondTimes(late),
  };
}

function secondTimes(sparse: SparseTimes): SecondTimes {
  const at = (percent: number) => percentileOf(sparse, percent) ?? 0;
  return { p50: at(50), p95: at(95), p99: at(99), max: at(100) };
}
