export interface Newest<Item> {
  add(item: Item): void;
  /** What is remembered, oldest first. */
  list(): Item[];
  clear(): void;
}

export interface NewestBounds<Item> {
  maxItems: number;
  maxBytes: number;
  /** About how many bytes an item takes. */
  weigh: (item: Item) => number;
}

/** What is left of the bytes after a cut: a cut for each item would copy all the others each time. */
const keptShare = 0.75;

/** Remembers the newest items, within two bounds; the newest one always. */
export function createNewest<Item>({ maxItems, maxBytes, weigh }: NewestBounds<Item>): Newest<Item> {
  let items: Item[] = [];
  let bytes = 0;

  /** Where the newest items begin that together weigh no more than `most`. */
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
