/** "Token requests: 60 per minute per device." Specification: "Limits". */
export const tokenRequestsPerWindow = 60;
export const rateLimitWindowMs = 60_000;
/** "Concurrent connections: 10 per device." */
export const connectionsPerDevice = 10;

export const rateLimitHeaderNames = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
} as const;
export const retryAfterHeaderName = 'Retry-After';

/** How `X-RateLimit-Reset` ("timestamp at which the limit resets") is written. */
export const resetFormats = ['seconds', 'milliseconds', 'iso8601', 'http-date', 'delta'] as const;
export type ResetFormat = (typeof resetFormats)[number];

export interface RateLimit {
  limit: number;
  remaining: number;
  /** Wall-clock milliseconds at which the limit resets, rounded up. */
  resetAtMs: number;
  /** Milliseconds until then, not rounded: from `resetAtMs` they would be up to 1 ms too long. */
  resetInMs: number;
}

/** The three headers, in the order and spelling of the specification. A reset is never written as sooner than it is. */
export function writeRateLimitHeaders(
  { limit, remaining, ...reset }: RateLimit,
  format: ResetFormat,
): [name: string, value: string][] {
  return [
    [rateLimitHeaderNames.limit, String(limit)],
    [rateLimitHeaderNames.remaining, String(remaining)],
    [rateLimitHeaderNames.reset, writeReset(reset, format)],
  ];
}

function writeReset(
  { resetAtMs, resetInMs }: Pick<RateLimit, 'resetAtMs' | 'resetInMs'>,
  format: ResetFormat,
): string {
  switch (format) {
    case 'seconds':
      return String(Math.ceil(resetAtMs / 1000));
    case 'milliseconds':
      return String(Math.ceil(resetAtMs));
    case 'iso8601':
      return new Date(resetAtMs).toISOString();
    case 'http-date':
      return httpDate(resetAtMs);
    case 'delta':
      return String(Math.max(0, Math.ceil(resetInMs / 1000)));
  }
}

/** A limit that is used up, and resets in this time. */
export function usedUp(limit: number, { resetInMs, nowMs }: { resetInMs: number; nowMs: number }) {
  const resetAtMs = Math.ceil(nowMs + resetInMs);
  return { limit, remaining: 0, resetAtMs, resetInMs, retryAtMs: resetAtMs, retryInMs: resetInMs };
}

/** How `Retry-After` is written. */
export const retryAfterFormats = ['seconds', 'http-date', 'none'] as const;

/** When the next request is allowed. Like the reset, it is never written as sooner than it is. */
export function writeRetryAfter(
  { retryAtMs, retryInMs }: { retryAtMs: number; retryInMs: number },
  format: (typeof retryAfterFormats)[number],
): [name: string, value: string][] {
  if (format === 'none') return [];
  const seconds = Math.max(1, Math.ceil(retryInMs / 1000));
  return [[retryAfterHeaderName, format === 'seconds' ? String(seconds) : httpDate(retryAtMs)]];
}

/** In whole seconds, rounded up. */
function httpDate(atMs: number): string {
  return new Date(Math.ceil(atMs / 1000) * 1000).toUTCString();
}

/** What a response says about the limit; a field is undefined if its header is missing or unreadable. */
export type ReadRateLimit = Record<Exclude<keyof RateLimit, 'resetInMs'>, number | undefined>;

/** Reads the three headers. `header` finds a value by its name, in any case. */
export function readRateLimitHeaders(
  header: (name: string) => string | undefined,
  nowMs: number,
): ReadRateLimit {
  return {
    limit: readCount(header(rateLimitHeaderNames.limit)),
    remaining: readCount(header(rateLimitHeaderNames.remaining)),
    resetAtMs: readMoment(header(rateLimitHeaderNames.reset), nowMs),
  };
}

function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
}

/** Below this a number is seconds from now; below the next it is epoch seconds; above, epoch milliseconds. */
export const smallestEpochSeconds = 100_000_000;
const smallestEpochMs = 100_000_000_000;
/** The last moment that a JavaScript date can hold. */
const lastMomentMs = 8.64e15;

/**
 * A moment as any service may write it: epoch seconds or milliseconds, seconds from now, ISO 8601, or
 * an HTTP date. Also reads `Retry-After`. Returns wall-clock milliseconds.
 */
export function readMoment(text: string | undefined, nowMs: number): number | undefined {
  const trimmed = text?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    const value = Number(trimmed);
    const format = formatOfNumber(value);
    if (format === 'delta') return nowMs + value * 1000;
    if (format === 'seconds') return value * 1000;
    return value <= lastMomentMs ? value : undefined;
  }
  const parsed = /^\d{4}-|[A-Za-z]{3}/.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

function formatOfNumber(value: number): 'delta' | 'seconds' | 'milliseconds' {
  if (value < smallestEpochSeconds) return 'delta';
  return value < smallestEpochMs ? 'seconds' : 'milliseconds';
}

/** How a moment is written; undefined if it is none, or is written in a way that the dialect does not have. */
export function resetFormatOf(text: string): ResetFormat | undefined {
  const trimmed = text.trim();
  if (readMoment(trimmed, 0) === undefined) return undefined;
  if (/^\d+$/.test(trimmed)) return formatOfNumber(Number(trimmed));
  if (/^\d{4}-\d\d-\d\dT/.test(trimmed)) return 'iso8601';
  return /^[A-Z][a-z]{2}, .* GMT$/.test(trimmed) ? 'http-date' : undefined;
}

/** A device may try again this much before the time that a refusal names: its clock and ours are read at different moments. */
export const earlyRetryMs = 150;
