import { expect } from 'vitest';

/** An expectation of something that is about to come true, however slow the machine is. */
export function eventually<Value>(read: () => Value, { interval = 25 } = {}) {
  return expect.poll(read, { timeout: 20_000, interval });
}
