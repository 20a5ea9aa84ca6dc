/** The minimum of the last values. */
export interface Minimum {
  add(value: number): void;
  clear(): void;
  /** Infinite while there are no values. */
  readonly value: number;
  /** Whether there are `size` values. */
  readonly isFull: boolean;
}

/** Keeps the last `size` values. */
export function createMinimum(size: number): Minimum {
  let values: number[] = [];
  return {
    add(value) {
      values.push(value);
      if (values.length > size) values.shift();
    },
    clear() {
      values = [];
    },
    get value() {
      return Math.min(...values);
    },
    get isFull() {
      return values.length === size;
    },
  };
}
