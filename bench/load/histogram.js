import { createHistogram } from 'node:perf_hooks';

/**
 * Times in milliseconds, kept to the microsecond.
 */
export function createTimes() {
  const histogram = createHistogram({ lowest: 1, highest: 120_000_000, figures: 3 });
  return {
    /** @param {number} ms */
    add: (ms) => histogram.record(Math.max(1, Math.round(ms * 1000))),
    get count() {
      return histogram.count;
    },
    /** @param {number} percent */
    at: (percent) => (histogram.count === 0 ? 0 : histogram.percentile(percent) / 1000),
    get max() {
      return histogram.count === 0 ? 0 : histogram.max / 1000;
    },
  };
}
