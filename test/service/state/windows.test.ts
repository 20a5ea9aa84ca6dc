import { describe, expect, test } from 'vitest';
import { createWindowKind, type RateWindow, type WindowKind } from '../../../src/service/state/windows.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const minute = 60_000;

function windowOf(kind: WindowKind, times: readonly number[]): RateWindow {
  const window: RateWindow = { count: 0, at: times[0] ?? 0 };
  for (const time of times) {
    kind.update(window, time);
    kind.add(window, time);
  }
  return window;
}

function countAt(kind: WindowKind, window: RateWindow, now: number): number {
  kind.update(window, now);
  return window.count;
}

describe('a window that begins with the first request', () => {
  const create = () => createWindowKind({ window: 'first-request' }, 3, createManualClock());

  test('ends a minute after it, to the millisecond, for all its requests', () => {
    const kind = create();
    const window = windowOf(kind, [1_000, 30_000]);
    expect([kind.resetAt(window), kind.retryAt(window), kind.emptyAt(window)]).toEqual(Array(3).fill(61_000));
    expect([60_999, 61_000].map((now) => countAt(kind, window, now))).toEqual([2, 0]);
  });

  test('begins again with the next request', () => {
    const kind = create();
    const window = windowOf(kind, [1_000, 61_000, 61_500]);
    expect([window.count, kind.resetAt(window)]).toEqual([2, 121_000]);
  });
});

describe('a window that is the minute of the clock', () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1, 0, 0, 20));
  const create = () => createWindowKind({ window: 'calendar-minute' }, 3, clock);

  test('ends with it, even for a request that was just made', () => {
    const kind = create();
    const window = windowOf(kind, [clock.now()]);
    const end = clock.now() + 40_000;
    expect(kind.resetAt(window)).toBe(end);
    expect([end - 1, end].map((now) => countAt(kind, window, now))).toEqual([1, 0]);
  });
});

describe('a sliding window', () => {
  const create = () => createWindowKind({ window: 'sliding' }, 3, createManualClock());

  test('forgets each request a minute after it, to the millisecond', () => {
    const kind = create();
    const window = windowOf(kind, [1_000, 2_000]);
    expect([kind.resetAt(window), kind.retryAt(window), kind.emptyAt(window)]).toEqual([
      61_000, 61_000, 62_000,
    ]);
    expect([60_999, 61_000, 61_999, 62_000].map((now) => countAt(kind, window, now))).toEqual([2, 1, 1, 0]);
  });

  test('keeps the times of as many requests as may be made, and no more', () => {
    const kind = create();
    expect(windowOf(kind, [1, 2, 3, 4, 5]).times).toEqual([3, 4, 5]);
    expect(windowOf(kind, [1, 2, 3]).times).toEqual([1, 2, 3]);
    const none = createWindowKind({ window: 'sliding' }, 0, createManualClock());
    expect(windowOf(none, [1, 2]).times).toEqual([2]);
  });
});

describe('a token bucket', () => {
  // One request comes back every 20 s.
  const create = () => createWindowKind({ window: 'token-bucket' }, 3, createManualClock());

  test('refills continuously', () => {
    const kind = create();
    const window = windowOf(kind, [1_000, 1_000]);
    expect([1_000, 11_000, 21_000, 61_000].map((now) => countAt(kind, window, now))).toEqual([2, 1.5, 1, 0]);
  });

  test('reports when one request is allowed again, and when all are', () => {
    const kind = create();
    const window = windowOf(kind, [1_000, 1_000, 1_000]);
    expect([kind.retryAt(window), kind.resetAt(window), kind.emptyAt(window)]).toEqual([
      21_000,
      1_000 + minute,
      1_000 + minute,
    ]);
  });

  test('never goes below empty', () => {
    const kind = create();
    const window = windowOf(kind, [1_000, 1_000, 1_000, 1_000, 1_000]);
    expect(window.count).toBe(3);
  });
});
