/** @param {import('../../src/runs/load/histogram.ts').Times} times */
export function inMilliseconds(times) {
  return { p50: times.at(50) / 1000, p99: times.at(99) / 1000, max: (times.max ?? 0) / 1000 };
}
