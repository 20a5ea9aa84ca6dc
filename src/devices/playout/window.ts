/** The last values of a series. */
export interface Window {
  add(value: number): void;
  clear(): void;
  /** Infinite while there are no values. */
  readonly least: number;
  /** Infinite while there are no values. */
  readonly median: number;
  /** Whether there are `size` values. */
  readonly isFull: boolean;
}

/** Keeps the last `size` values. */
export function createWindow(size: number): Window {
  let values: number[] = [];
  return {
    add(value) {
      values.push(value);
      if (values.length > size) values.shift();
    },
    clear() {
      values = [];
    },
    get least() {
      return Math.min(...values);
    },
    get median() {
      const sorted = [...values].sort((one, other) => one - other);
      return sorted[values.length >> 1] ?? Number.POSITIVE_INFINITY;
    },
    get isFull() {
      return values.length === size;
    },
  };
}
