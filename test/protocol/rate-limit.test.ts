import { expect, test } from 'vitest';
import {
  readMoment,
  readRateLimitHeaders,
  resetFormatOf,
  resetFormats,
  writeRateLimitHeaders,
  writeRetryAfter,
} from '../../src/protocol/rate-limit.ts';

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);

test.each([
  ['seconds', '1767323105'],
  ['milliseconds', '1767323105000'],
  ['iso8601', '2026-01-02T03:05:05.000Z'],
  ['http-date', 'Fri, 02 Jan 2026 03:05:05 GMT'],
  ['delta', '60'],
] as const)('a reset in 60 s is written as %s: %s', (format, text) => {
  const rate = { limit: 60, remaining: 59, resetAtMs: nowMs + 60_000, resetInMs: 60_000 };
  expect(writeRateLimitHeaders(rate, format)).toEqual([
    ['X-RateLimit-Limit', '60'],
    ['X-RateLimit-Remaining', '59'],
    ['X-RateLimit-Reset', text],
  ]);
  expect(resetFormatOf(text)).toBe(format);
});

test.each(resetFormats)('a reset written as %s is read back, never as sooner than it is', (format) => {
  const resetInMs = 41_234.5;
  const resetAtMs = nowMs + resetInMs;
  const headers = new Map(writeRateLimitHeaders({ limit: 60, remaining: 0, resetAtMs, resetInMs }, format));
  const read = readRateLimitHeaders((name) => headers.get(name), nowMs);
  expect(read).toMatchObject({ limit: 60, remaining: 0 });
  expect(read.resetAtMs).toBeGreaterThanOrEqual(Math.floor(resetAtMs));
  expect(read.resetAtMs).toBeLessThanOrEqual(resetAtMs + 1_000);
});

test.each([
  ['seconds', 0.001, 41.001, '42'],
  ['seconds', 0, 42, '42'],
  ['seconds', 0, 0.2, '1'],
  ['http-date', 0.9, 41.2, 'Fri, 02 Jan 2026 03:04:48 GMT'],
  ['http-date', 0.8, 41.2, 'Fri, 02 Jan 2026 03:04:47 GMT'],
] as const)('Retry-After in %s, asked for at %d s and allowed in %d s, is %s', (format, at, in_, text) => {
  const [retryAtMs, retryInMs] = [nowMs + (at + in_) * 1_000, in_ * 1_000];
  expect(writeRetryAfter({ retryAtMs, retryInMs }, format)).toEqual([['Retry-After', text]]);
});

test('a reset that has passed is a delta of 0', () => {
  const past = { limit: 60, remaining: 60, resetAtMs: nowMs - 5_000, resetInMs: -5_000 };
  expect(writeRateLimitHeaders(past, 'delta')[2]).toEqual(['X-RateLimit-Reset', '0']);
});

test.each([
  ['0', nowMs],
  ['42', nowMs + 42_000],
  ['0.5', nowMs + 500],
  [' 60 ', nowMs + 60_000],
  ['99999999', nowMs + 99_999_999_000],
  ['100000000', 100_000_000_000],
  ['1767323105', 1_767_323_105_000],
  ['99999999999', 99_999_999_999_000],
  ['100000000000', 100_000_000_000],
  ['8640000000000000', 8.64e15],
  ['8640000000000001', undefined],
  ['1767323105.5', 1_767_323_105_500],
  ['1767323105000', 1_767_323_105_000],
  ['2026-01-02T03:05:05Z', nowMs + 60_000],
  ['2026-01-02T04:05:05+01:00', nowMs + 60_000],
  ['2026-01-02', Date.UTC(2026, 0, 2)],
  ['Fri, 02 Jan 2026 03:05:05 GMT', nowMs + 60_000],
  ['Friday, 02-Jan-26 03:05:05 GMT', nowMs + 60_000],
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['12026-01-02', undefined],
  ['x 2026', undefined],
  ['-5', undefined],
  ['1e3', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
  ['60, 60', undefined],
  ['x60', undefined],
  ['60x', undefined],
  ['60.', undefined],
  ['1.25', nowMs + 1_250],
  ['2026', nowMs + 2_026_000],
  ['1/2/2026', undefined],
  ['2026-99-99T00:00:00Z', undefined],
  ['9'.repeat(16), undefined],
  ['9'.repeat(400), undefined],
])('the moment %j is read as %s', (text, moment) => {
  expect(readMoment(text, nowMs)).toBe(moment);
});

test.each([
  ['60', 60],
  ['  60  ', 60],
  ['0', 0],
  ['9'.repeat(15), 999_999_999_999_999],
])('a limit of %j is %i', (text, limit) => {
  expect(readRateLimitHeaders(() => text, nowMs)).toMatchObject({ limit, remaining: limit });
});

test.each([
  ['Xyz, no date at all GMT', undefined],
  ['2026-99-99T00:00:00Z', undefined],
  ['12345678901', 'seconds'],
  ['123456789012', 'milliseconds'],
  ['2026-11-27', undefined],
  ['60.5', undefined],
])('the format of %j is what it is read as: %s', (text, format) => {
  expect(resetFormatOf(text)).toBe(format);
});

test.each(['', 'many', '-1', '1.5', '0x10', '60x', 'x60', '6 0', '9'.repeat(16)])(
  'a limit of %j is unknown',
  (text) => {
    expect(readRateLimitHeaders(() => text, nowMs)).toMatchObject({ limit: undefined, remaining: undefined });
  },
);

test('headers that are missing are unknown', () => {
  expect(readRateLimitHeaders(() => undefined, nowMs)).toEqual({
    limit: undefined,
    remaining: undefined,
    resetAtMs: undefined,
  });
});
