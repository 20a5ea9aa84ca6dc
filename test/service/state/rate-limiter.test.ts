import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createRateLimiter, type RateLimiterOptions } from '../../../src/service/state/rate-limiter.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

function start(settings: Partial<RateLimiterOptions['settings']> = {}, limit = 60) {
  const clock = createManualClock();
  const limiter = createRateLimiter({
    clock,
    limit,
    settings: { window: 'first-request', counts: 'accepted', ...settings },
  });
  const take = (times: number, device = 'd') => {
    const answers = Array.from({ length: times }, () => limiter.countRequest(device));
    return answers.filter(({ allowed }) => allowed).length;
  };
  return { clock, limiter, take };
}

test.each([
  ['calendar-minute', (ms: number) => ms % 60_000 === 0],
  ['first-request', () => true],
] as const)(
  'a window of kind %s resets at one exact moment, although the wall clock has no fractions',
  (window, isRight) => {
    let now = 1_234.25;
    const clock = {
      now: () => now,
      wall: () => Math.floor(1_700_000_000_123.7 + now),
      after: () => ({ cancel() {} }),
    };
    const limiter = createRateLimiter({ clock, limit: 1_000, settings: { window, counts: 'accepted' } });
    const answers = Array.from({ length: 200 }, () => {
      now += 0.37;
      const answer = limiter.countRequest('d');
      return { ...answer, until: now + answer.resetInMs };
    });
    const moments = answers.map(({ resetAtMs }) => resetAtMs);
    expect(new Set(moments).size).toBe(1);
    for (const { until } of answers) expect(until).toBeCloseTo(answers[0]!.until);
    expect(moments.every(isRight)).toBe(true);
  },
);

test.each(['first-request', 'sliding', 'calendar-minute'] as const)(
  'a window of kind %s is never longer than 60 s, whatever the fractions of the two clocks',
  (window) => {
    let now = 0;
    const clock = {
      now: () => now,
      wall: () => Math.floor(1_700_000_000_123.7 + now),
      after: () => ({ cancel() {} }),
    };
    const limiter = createRateLimiter({ clock, limit: 1, settings: { window, counts: 'accepted' } });
    for (let device = 0; device < 1_000; device += 1) {
      now += 61_234.5678;
      expect(limiter.countRequest(String(device)).resetInMs).toBeLessThanOrEqual(60_000);
      expect(limiter.countRequest(String(device)).retryInMs).toBeLessThanOrEqual(60_000);
    }
  },
);

test('each device has 60 requests of its own', () => {
  const { take } = start();
  expect([take(61, 'a'), take(61, 'b')]).toEqual([60, 60]);
});

test('what remains counts down to 0 and stays there', () => {
  const { limiter } = start({}, 3);
  expect([1, 2, 3, 4, 5].map(() => limiter.countRequest('d').remaining)).toEqual([2, 1, 0, 0, 0]);
});

describe('a window that begins with the first request', () => {
  test('resets 60 seconds after it, however the requests are spread', () => {
    const { clock, limiter, take } = start();
    const resetAtMs = clock.wall() + 60_000;
    expect(limiter.countRequest('d').resetAtMs).toBe(resetAtMs);
    clock.advance(59_000);
    expect(take(100)).toBe(59);
    expect(limiter.countRequest('d')).toMatchObject({ allowed: false, resetAtMs });
    clock.advance(999);
    expect(take(1)).toBe(0);
    clock.advance(1);
    expect(take(100)).toBe(60);
  });
});

describe('a sliding window', () => {
  test('refills each request 60 seconds after it was made', () => {
    const { clock, take } = start({ window: 'sliding' });
    expect(take(30)).toBe(30);
    clock.advance(30_000);
    expect(take(40)).toBe(30);
    clock.advance(30_000);
    expect(take(40)).toBe(30);
    clock.advance(29_999);
    expect(take(1)).toBe(0);
    clock.advance(1);
    expect(take(40)).toBe(30);
  });

  test('resets when the oldest request that counts is 60 seconds old', () => {
    const { clock, limiter } = start({ window: 'sliding' }, 2);
    const start0 = clock.wall();
    limiter.countRequest('d');
    clock.advance(10_000);
    limiter.countRequest('d');
    expect(limiter.countRequest('d').resetAtMs).toBe(start0 + 60_000);
    clock.advance(50_000);
    expect(limiter.countRequest('d')).toMatchObject({ allowed: true, resetAtMs: start0 + 70_000 });
  });
});

describe('requests over the limit', () => {
  test('do not count by default: a device that continues is allowed again', () => {
    const { clock, take } = start({ window: 'sliding' }, 2);
    expect(take(10)).toBe(2);
    clock.advance(59_999);
    expect(take(10)).toBe(0);
    clock.advance(1);
    expect(take(10)).toBe(2);
  });

  test('that count keep a device out until it pauses, and the reset says how long', () => {
    const { clock, limiter, take } = start({ window: 'sliding', counts: 'all' }, 2);
    expect(take(10)).toBe(2);
    clock.advance(30_000);
    expect(take(10)).toBe(0);
    clock.advance(30_000);
    const refused = limiter.countRequest('d');
    expect(refused.allowed).toBe(false);
    clock.advance(refused.resetAtMs - clock.wall() - 1);
    expect(limiter.countRequest('d').allowed).toBe(false);
    clock.advance(60_000);
    expect(take(10)).toBe(2);
  });

  test('that count do not lengthen a window that begins with the first request', () => {
    const { clock, take } = start({ counts: 'all' }, 2);
    expect(take(10)).toBe(2);
    clock.advance(60_000);
    expect(take(10)).toBe(2);
  });
});

describe.each(['first-request', 'sliding', 'calendar-minute', 'token-bucket'] as const)('%s', (window) => {
  test('a limit of 0 allows nothing, and says to come back in a minute', () => {
    const { clock, limiter } = start({ window }, 0);
    const inAMinute = clock.wall() + 60_000;
    expect(limiter.countRequest('d')).toEqual({
      allowed: false,
      limit: 0,
      remaining: 0,
      resetAtMs: inAMinute,
      resetInMs: 60_000,
      retryAtMs: inAMinute,
      retryInMs: 60_000,
    });
    expect(limiter.windows()).toEqual([]);
  });

  test('a window that is over but not yet dropped resets in a minute like a new one', () => {
    const { clock, limiter } = start({ window }, 2);
    limiter.countRequest('d');
    clock.advance(90_000);
    const inAMinute = clock.wall() + 60_000;
    expect(limiter.look('d')).toMatchObject({ allowed: true, resetAtMs: inAMinute, retryAtMs: inAMinute });
  });

  test('a device is listed once, on whichever side of its limit it is', () => {
    const { clock, limiter, take } = start({ window }, 2);
    take(2);
    clock.advance(59_500);
    // Forgets what is over, and then not again for a second.
    take(1, 'other');
    clock.advance(500);
    expect(take(1)).toBe(1);
    expect(limiter.windows().filter(({ device }) => device === 'd')).toMatchObject([{ requests: 1 }]);
  });
});

test('a token bucket reports when one request is allowed again, and when all are', () => {
  const { clock, limiter, take } = start({ window: 'token-bucket' }, 3);
  take(3);
  clock.advance(500);
  const now = clock.wall();
  expect(limiter.countRequest('d')).toMatchObject({
    allowed: false,
    retryAtMs: now + 19_500,
    resetAtMs: now + 59_500,
  });
});

test.each([
  ['first-request', 'accepted'],
  ['sliding', 'accepted'],
  ['sliding', 'all'],
  ['calendar-minute', 'accepted'],
  ['token-bucket', 'accepted'],
] as const)(
  'a device at its limit stays refused while 51,000 others make requests (%s, %s)',
  (window, counts) => {
    const { clock, limiter, take } = start({ window, counts });
    take(60, 'limiting');
    for (let i = 0; i < 51_000; i += 1) limiter.countRequest(`device-${i}`);
    expect(take(1, 'limiting')).toBe(0);
    clock.advance(60_000);
    expect(take(1, 'limiting')).toBe(1);
  },
);

describe('memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const heapMb = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed / 1e6;
  };

  test('150,000 devices cost at most 20 MB', () => {
    const { limiter, take } = start();
    const before = heapMb();
    for (let i = 0; i < 150_000; i += 1) limiter.countRequest(`device-${i}`);
    expect(heapMb() - before).toBeLessThan(20);
    take(1);
  });

  test('devices at their limit cost nothing once their windows are over', () => {
    const { clock, limiter, take } = start({}, 1);
    const before = heapMb();
    for (let i = 0; i < 100_000; i += 1) limiter.countRequest(`device-${i}`);
    expect(heapMb() - before).toBeGreaterThan(5);
    clock.advance(60_000);
    take(1);
    expect(heapMb() - before).toBeLessThan(5);
    take(1);
  });
});

test.each(['first-request', 'sliding'] as const)(
  'a window is over after 60 seconds to the millisecond, even if nothing is dropped meanwhile (%s)',
  (window) => {
    const { clock, limiter, take } = start({ window }, 1);
    take(1);
    clock.advance(59_500);
    // Forgets what is over, and then not again for a second.
    take(1, 'other');
    clock.advance(499);
    expect([take(1), limiter.windows().length]).toEqual([0, 2]);
    clock.advance(1);
    expect(limiter.windows().map(({ device }) => device)).toEqual(['other']);
    expect(take(1)).toBe(1);
  },
);

test('what is dropped leaves no trace: it is not listed', () => {
  const { limiter, take } = start({}, 2);
  take(2, 'a');
  take(1, 'b');
  expect(limiter.windows().map(({ device, requests }) => [device, requests])).toEqual([
    ['b', 1],
    ['a', 2],
  ]);
  limiter.clear();
  expect(limiter.windows()).toEqual([]);
  expect(take(3, 'a')).toBe(2);
});
