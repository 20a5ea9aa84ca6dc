/** A value of a metric, with its labels. `suffix`: `_bucket`, `_sum` or `_count`. */
export interface MetricSample {
  labels: Readonly<Record<string, string | number>>;
  value: number;
  suffix?: string;
}

/** A metric as a scraper gets it. A counter is named without `_total`. */
export interface MetricFamily {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: readonly MetricSample[];
}

/** Counts by the values of some labels, which have to be few: each combination is a series. */
export interface LabelledCount {
  add(values: readonly string[], count?: number): void;
  family(): MetricFamily;
}

export function createCount(name: string, help: string, labels: readonly string[] = []): LabelledCount {
  const counts = new Map<string, { values: readonly string[]; count: number }>();
  const entryOf = (values: readonly string[]) => {
    const key = values.join('\n');
    const entry = counts.get(key) ?? { values, count: 0 };
    counts.set(key, entry);
    return entry;
  };
  // Without labels a counter is there from the start.
  if (labels.length === 0) entryOf([]);
  return {
    add(values, count = 1) {
      entryOf(values).count += count;
    },
    family: () => ({
      ...{ name, help, type: 'counter' },
      samples: [...counts.values()].map(({ values, count }) => ({
        labels: Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])),
        value: count,
      })),
    }),
  };
}

export function gauge(name: string, help: string, value: number): MetricFamily {
  return { name, help, type: 'gauge', samples: [{ labels: {}, value }] };
}

/** The upper ends of the classes of a time, in seconds: what matters is whether an answer seems immediate. */
const timeClasses = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.5, 2, 3, 5, 10];

/** Times in classes. */
export interface TimeClasses {
  add(ms: number, count?: number): void;
  samples(labels?: MetricSample['labels']): MetricSample[];
}

export function createTimeClasses(): TimeClasses {
  const counts = new Array<number>(timeClasses.length + 1).fill(0);
  let [sum, total] = [0, 0];
  return {
    add(ms, count = 1) {
      const at = timeClasses.findIndex((end) => ms <= end * 1000);
      const index = at < 0 ? timeClasses.length : at;
      counts[index] = (counts[index] ?? 0) + count;
      sum += (ms / 1000) * count;
      total += count;
    },
    samples(labels = {}) {
      let below = 0;
      const buckets = [...timeClasses, '+Inf'].map((le, index): MetricSample => {
        below += counts[index] ?? 0;
        return { labels: { ...labels, le }, value: below, suffix: '_bucket' };
      });
      return [...buckets, { labels, value: sum, suffix: '_sum' }, { labels, value: total, suffix: '_count' }];
    },
  };
}
