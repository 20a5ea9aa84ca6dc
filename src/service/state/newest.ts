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
