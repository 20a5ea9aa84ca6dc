import { decodeFromCompressedBase64, encodeIntoCompressedBase64, Int32Histogram } from 'hdr-histogram-js';
import { rankOf } from '../../kernel/nearest-rank.ts';

/** Times from a microsecond to an hour, with three significant figures. */
export interface Times {
  /** Takes whole microseconds. */
  add(us: number, count?: number): void;
  merge(other: Times): void;
  readonly count: number;
  /** Exact, in microseconds; undefined if there are no values. */
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** In microseconds, with three significant figures. */
  readonly mean: number;
  /** The percentile in microseconds. */
  at(percent: number): number;
  /** The value in microseconds at this rank, from 1, in ascending order. */
  nth(rank: number): number;
  /** Each recorded value in microseconds with its count, in ascending order. */
  values(): Generator<readonly [us: number, count: number]>;
  encode(): EncodedTimes;
}

/** A histogram in JSON. `hdr` is HdrHistogram's compressed form (V2, base64), in microseconds. */
export interface EncodedTimes {
  count: number;
  minUs: number | null;
  maxUs: number | null;
  hdr: string;
}

/** Longer times count as this. */
export const longestUs = 3_600_000_000;
/** Maximum number of times in a histogram: they may all be in one class. */
export const maxTimeCount = 2 ** 31 - 1;
export const figures = 3;

/** In whole microseconds, limited to the range of a histogram. */
export function toMicroseconds(ms: number): number {
  return Math.min(longestUs, Math.max(1, Math.round(ms * 1000)));
}

export function createTimes(encoded?: EncodedTimes): Times {
  const histogram =
    encoded === undefined
      ? new Int32Histogram(1, longestUs, figures)
      : (decodeFromCompressedBase64(encoded.hdr, 32, false) as Int32Histogram);
  let min = encoded?.minUs ?? undefined;
  let max = encoded?.maxUs ?? undefined;
  const widen = (low: number, high: number) => {
    min = Math.min(min ?? low, low);
    max = Math.max(max ?? high, high);
  };
  const nth = (rank: number) => {
    // The histogram takes a percentage: half a rank less cannot be rounded up to the next rank.
    const percent = ((rank - 0.5) / histogram.totalCount) * 100;
    // The histogram returns the end of a class, which may be beyond the largest value.
    return Math.min(max ?? 0, histogram.getValueAtPercentile(percent));
  };
  return {
    add(us, count = 1) {
      histogram.recordValueWithCount(us, count);
      widen(us, us);
    },
    merge(other) {
      for (const [us, count] of other.values()) histogram.recordValueWithCount(us, count);
      if (other.min !== undefined && other.max !== undefined) widen(other.min, other.max);
    },
    get count() {
      return histogram.totalCount;
    },
    get min() {
      return min;
    },
    get max() {
      return max;
    },
    get mean() {
      return histogram.totalCount === 0 ? 0 : histogram.mean;
    },
    at: (percent) => nth(rankOf(percent, histogram.totalCount)),
    nth,
    *values() {
      for (let index = 0, left = histogram.totalCount; left > 0; index += 1) {
        const count = histogram.getCountAtIndex(index);
        if (count > 0) yield [histogram.valueFromIndex(index), count];
        left -= count;
      }
    },
    encode: () => ({
      count: histogram.totalCount,
      minUs: min ?? null,
      maxUs: max ?? null,
      hdr: encodeIntoCompressedBase64(histogram),
    }),
  };
}
