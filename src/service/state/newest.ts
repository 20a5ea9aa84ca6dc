export interface Newest<Item> {
  add(item: Item): void;
  /** The items, oldest first. */
  list(): Item[];
  clear(): void;
}

export interface NewestBounds<Item> {
  maxItems: number;
  maxBytes: number;
  /** About how many bytes an item takes. */
  weigh: (item: Item) => number;
}

/** Share of the bytes that a cut leaves. A cut for each single item would copy the others each time. */
const keptShare = 0.75;

/** Remembers the newest items within two bounds, and always the newest one. */
export function createNewest<Item>({ maxItems, maxBytes, weigh }: NewestBounds<Item>): Newest<Item> {
  let items: Item[] = [];
  let bytes = 0;

  /** Index of the first of the newest items that together weigh at most `most`. */
  const startWithin = (most: number) => {
    let start = items.length;
    let sum = 0;
    for (const item of items.toReversed()) {
      sum += weigh(item);
      if (sum > most && start < items.length) break;
      start -= 1;
    }
    return start;
  };
  const cut = (start: number) => {
    items = items.slice(start);
    bytes = items.reduce((sum, item) => sum + weigh(item), 0);
  };

  return {
    add(item) {
      items.push(item);
      bytes += weigh(item);
      if (bytes > maxBytes) cut(startWithin(keptShare * maxBytes));
      else if (items.length > 2 * maxItems) cut(items.length - maxItems);
    },
    list: () => items.slice(-maxItems),
    clear() {
      items = [];
      bytes = 0;
    },
  };
}

/** Rough overhead of an object and of each field, in bytes. */
const fieldBytes = 16;

/** Estimates the bytes that a value takes in memory, well enough for a bound. Walks without recursion. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = fieldBytes;
  const waiting: object[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    // Every event is weighed: a list of its fields would cost more than the fields.
    for (const name in next) {
      const field: unknown = next[name as keyof typeof next];
      bytes += fieldBytes;
      if (typeof field === 'string') bytes += field.length;
      else if (typeof field === 'object' && field !== null) waiting.push(field);
    }
  }
  return bytes;
}
