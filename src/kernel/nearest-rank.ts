/** The rank, from 1, of the value that this percentage of `count` values do not exceed. */
export function rankOf(percent: number, count: number): number {
  // Multiplied first: 99.9 / 100 * 1000 is more than 999.
  return Math.max(1, Math.ceil((percent * count) / 100));
}

/** The percentile of sorted values by nearest rank, so always a measured value. Undefined without values. */
export function nearestRank(sorted: readonly number[], percent: number): number | undefined {
  return sorted[rankOf(percent, sorted.length) - 1];
}
