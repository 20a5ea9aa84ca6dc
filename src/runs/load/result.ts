import type { LoadTask } from '../../config/load-tasks.ts';
import { type LoadMetric, loadMetricNames } from '../../config/threshold.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { FailureKind } from '../../kernel/failure-kind.ts';
import type { Cleanness } from '../../session/expectations.ts';
import { createTimes, type EncodedTimes, maxTimeCount, type Times } from './histogram.ts';
import type { LoadCost } from './plan.ts';
import { createSeries, type Series, type SeriesSecond } from './series.ts';
import { addCounts, type LoadCounts, type LoadTick, noCounts } from './tick.ts';

/** What a run was asked to do: shown to people, and compared in a merge. */
export interface LoadFacts {
  version: string;
  target: string;
  task: LoadTask;
  arrival: string;
  seed: number;
  /** The planned start, in milliseconds since the epoch. */
  startAt: number;
  cost: LoadCost;
  /** Set if the voices were judged: what makes a session fail. */
  clean?: Cleanness | undefined;
}

/** One process that generated load. */
export interface Generator {
  /** `SHARD/SHARDS.PROCESS`, from 1. */
  name: string;
  /** The highest share of a core over ten seconds, from 0 to 1; null if it was not measured. */
  core: number | null;
  /** The longest time for which it stood still, in milliseconds; null if it was not measured. */
  longestPauseMs: number | null;
  /** Why it did not run to its end. */
  lost: string | null;
}

/** The whole result of a run, or of one shard: as JSON it can be merged with others. */
export interface LoadResult {
  type: 'load-result';
  format: 1;
  facts: LoadFacts;
  /** The numbers of the included shards, from 1, and how many there are in total. */
  shards: { has: number[]; of: number };
  counts: LoadCounts;
  failures: Partial<Record<FailureKind, number>>;
  metrics: Partial<Record<LoadMetric, { finished: EncodedTimes; unfinished: EncodedTimes }>>;
  lateness: EncodedTimes;
  /** How many times of each metric include a pause of their generator. */
  touched: Partial<Record<LoadMetric, number>>;
  generators: Generator[];
  series: SeriesSecond[];
  /** Why the run ended early. */
  stopped: string | null;
}

/** Finished times, and the ages of what did not finish. */
export interface MetricTimes {
  finished: Times;
  unfinished: Times;
}

/** Sums of what the generators have seen. */
export interface Totals {
  readonly counts: LoadCounts;
  readonly failures: LoadResult['failures'];
  readonly metrics: ReadonlyMap<LoadMetric, MetricTimes>;
  readonly lateness: Times;
  readonly touched: LoadResult['touched'];
  readonly series: Series;
  add(tick: LoadTick): void;
  merge(
    result: Pick<LoadResult, 'counts' | 'failures' | 'metrics' | 'lateness' | 'touched' | 'series'>,
  ): void;
}

export function createTotals(): Totals {
  const counts = { ...noCounts };
  const failures: LoadResult['failures'] = {};
  const metrics = new Map<LoadMetric, MetricTimes>();
  const lateness = createTimes();
  const touched: LoadResult['touched'] = {};
  const series = createSeries();
  const timesOf = (metric: LoadMetric): MetricTimes => {
    const times = metrics.get(metric) ?? { finished: createTimes(), unfinished: createTimes() };
    metrics.set(metric, times);
    return times;
  };
  return {
    counts,
    failures,
    metrics,
    lateness,
    touched,
    series,
    add(tick) {
      addCounts(counts, tick.counts);
      addUp(failures, tick.failures);
      addUp(touched, tick.touched);
      for (const kind of ['finished', 'unfinished'] as const)
        for (const metric of loadMetricNames)
          for (const us of tick[kind][metric] ?? []) timesOf(metric)[kind].add(us);
      for (const [us, count] of tick.lateness) lateness.add(us, count);
      series.add(tick);
    },
    merge(other) {
      addCounts(counts, other.counts);
      addUp(failures, other.failures);
      addUp(touched, other.touched);
      for (const metric of loadMetricNames) {
        const encoded = other.metrics[metric];
        if (encoded === undefined) continue;
        timesOf(metric).finished.merge(createTimes(encoded.finished));
        timesOf(metric).unfinished.merge(createTimes(encoded.unfinished));
      }
      lateness.merge(createTimes(other.lateness));
      series.merge(other.series);
    },
  };
}

function addUp<Name extends string>(
  to: Partial<Record<Name, number>>,
  more: Partial<Record<Name, number>>,
): void {
  for (const [name, count] of Object.entries(more) as [Name, number][]) to[name] = (to[name] ?? 0) + count;
}

export interface ResultParts extends Pick<LoadResult, 'facts' | 'shards' | 'generators' | 'stopped'> {
  totals: Totals;
}

/** A result as it is written to a file. */
export function encodeResult({ totals, facts, shards, generators, stopped }: ResultParts): LoadResult {
  const metrics = loadMetricNames.flatMap((metric) => {
    const times = totals.metrics.get(metric);
    if (times === undefined) return [];
    return [[metric, { finished: times.finished.encode(), unfinished: times.unfinished.encode() }] as const];
  });
  const sorted = <Counts extends object>(counts: Counts) =>
    Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) as Counts;
  return {
    type: 'load-result',
    format: 1,
    facts,
    shards,
    counts: { ...totals.counts },
    failures: sorted(totals.failures),
    metrics: Object.fromEntries(metrics),
    lateness: totals.lateness.encode(),
    touched: sorted(totals.touched),
    generators: generators.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })),
    series: totals.series.read(),
    stopped,
  };
}

/** Merges several results. Throws `usage` for results of different runs, and for a shard that is included twice. */
export function mergeResults(results: readonly [LoadResult, ...LoadResult[]]): ResultParts {
  const [first, ...others] = results;
  const keyOf = ({ facts: { version: _, ...facts }, shards }: LoadResult) =>
    JSON.stringify([facts, shards.of]);
  if (others.some((other) => keyOf(other) !== keyOf(first))) {
    throw new VoicectlError('usage', 'These results are from different runs', {
      hint: 'Shards of one run have the same flags, --start-at and --seed.',
    });
  }
  const has = results.flatMap(({ shards }) => shards.has).toSorted((a, b) => a - b);
  const twice = has.find((shard, index) => has[index + 1] === shard);
  if (twice !== undefined) throw new VoicectlError('usage', `Shard ${twice} is listed twice`);
  requireRoom(results);
  const totals = createTotals();
  for (const result of results) totals.merge(result);
  return {
    totals,
    facts: first.facts,
    shards: { has, of: first.shards.of },
    generators: results.flatMap(({ generators }) => generators),
    stopped: results.find(({ stopped }) => stopped !== null)?.stopped ?? null,
  };
}

/** A histogram class counts up to 2³¹ - 1. */
function requireRoom(results: readonly LoadResult[]): void {
  const countOf = (read: (result: LoadResult) => EncodedTimes | undefined) =>
    results.reduce((sum, result) => sum + (read(result)?.count ?? 0), 0);
  const counts = loadMetricNames.flatMap((metric) => [
    countOf(({ metrics }) => metrics[metric]?.finished),
    countOf(({ metrics }) => metrics[metric]?.unfinished),
  ]);
  if (
    Math.max(
      countOf(({ lateness }) => lateness),
      ...counts,
    ) <= maxTimeCount
  )
    return;
  throw new VoicectlError(
    'usage',
    'The merged result would contain more measured times than a result can hold',
  );
}
