import { type LoadMetric, loadMetricNames } from '../../config/threshold.ts';
import { rankOf } from '../../kernel/nearest-rank.ts';
import { addCounts, type LoadCounts, type LoadTick, noCounts } from './tick.ts';

/** Times as pairs of value and count, in ascending order: values in microseconds, with two significant figures. */
export type SparseTimes = (readonly [us: number, count: number])[];

/** One second of a run. */
export interface SeriesSecond {
  second: number;
  counts: LoadCounts;
  /** Open sessions at the end of the second. */
  open: number;
  times: Partial<Record<LoadMetric, SparseTimes>>;
  /** How late frames were sent and sessions started. */
  late: SparseTimes;
}

interface Second {
  counts: LoadCounts;
  opened: number;
  times: Map<LoadMetric, Map<number, number>>;
  late: Map<number, number>;
}

/** The series of a run, second by second. */
export interface Series {
  add(tick: LoadTick): void;
  merge(seconds: readonly SeriesSecond[]): void;
  read(): SeriesSecond[];
  /** One second, with the number of sessions that are open now. */
  at(second: number): SeriesSecond;
}

export function createSeries(): Series {
  const seconds = new Map<number, Second>();
  const at = (second: number): Second => {
    const known = seconds.get(second) ?? {
      ...{ counts: { ...noCounts }, opened: 0, times: new Map(), late: new Map() },
    };
    seconds.set(second, known);
    return known;
  };
  const addTime = ({ times }: Second, metric: LoadMetric, us: number, count: number) => {
    const counts = times.get(metric) ?? new Map<number, number>();
    times.set(metric, counts);
    addCount(counts, us, count);
  };
  return {
    add({ second, counts, opened, finished, unfinished, lateness }) {
      const one = at(second);
      addCounts(one.counts, counts);
      one.opened += opened;
      for (const metric of loadMetricNames) {
        for (const us of finished[metric] ?? []) addTime(one, metric, toTwoFigures(us), 1);
        for (const us of unfinished[metric] ?? []) addTime(one, metric, toTwoFigures(us), 1);
      }
      for (const [us, count] of lateness) addCount(one.late, toTwoFigures(us), count);
    },
    merge(others) {
      let open = 0;
      for (const other of others) {
        const one = at(other.second);
        addCounts(one.counts, other.counts);
        one.opened += other.open - open;
        open = other.open;
        for (const metric of loadMetricNames)
          for (const [us, count] of other.times[metric] ?? []) addTime(one, metric, us, count);
        for (const [us, count] of other.late) addCount(one.late, us, count);
      }
    },
    at(second) {
      let open = 0;
      for (const { opened } of seconds.values()) open += opened;
      return read(second, at(second), open);
    },
    read() {
      let open = 0;
      let last = -1;
      for (const second of seconds.keys()) last = Math.max(last, second);
      // Including the seconds in which nothing happened.
      return Array.from({ length: last + 1 }, (_, second) => {
        const one = at(second);
        open += one.opened;
        return read(second, one, open);
      });
    },
  };
}

function read(second: number, { counts, times, late }: Second, open: number): SeriesSecond {
  const present = loadMetricNames.filter((metric) => times.has(metric));
  return {
    ...{ second, open, counts: { ...counts } },
    times: Object.fromEntries(present.map((metric) => [metric, sparse(times.get(metric))])),
    late: sparse(late),
  };
}

function addCount(counts: Map<number, number>, us: number, count: number): void {
  counts.set(us, (counts.get(us) ?? 0) + count);
}

function sparse(counts: ReadonlyMap<number, number> = new Map()): SparseTimes {
  return [...counts].sort(([a], [b]) => a - b);
}

function toTwoFigures(us: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(us)) - 1);
  return Math.round(us / unit) * unit;
}

/** The percentile in milliseconds; undefined if there are no values. */
export function percentileOf(times: SparseTimes, percent: number): number | undefined {
  const total = times.reduce((sum, [, count]) => sum + count, 0);
  let left = rankOf(percent, total);
  for (const [us, count] of times) {
    left -= count;
    if (left <= 0) return us / 1000;
  }
  return undefined;
}
