import { type ReadRateLimit, readMoment, readRateLimitHeaders } from '../protocol/rate-limit.ts';
import type { Header, HttpAnswer } from './exchange.ts';

/** Turns a flat list of names and values into pairs. */
export function headerPairs(flat: readonly string[]): Header[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : []));
}

/** The values of a header, in their order. */
function headerValues(headers: readonly Header[], name: string): string[] {
  return headers.filter(([other]) => other.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** The value of a header; repeated ones joined with a comma. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  const values = headerValues(headers, name);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The sender's time, to the second, from `Date`: milliseconds since the epoch. Undefined if that is missing or unreadable. */
export function dateOf(headers: readonly Header[]): number | undefined {
  const at = readMoment(headerValue(headers, 'Date'), Number.NaN);
  return Number.isNaN(at) ? undefined : at;
}

/** Headers by lower-case name; repeated ones joined with a comma. */
export function flattenHeaders(headers: readonly Header[]): Record<string, string> {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  return Object.fromEntries([...names].map((name) => [name, headerValue(headers, name) ?? '']));
}

/**
 * What an answer says about the limit, and when: in the service's own time if the answer has it, since a
 * reset is in that time and our clock may be wrong. `wallMs` is our time, milliseconds since the epoch.
 */
export function readRateLimit(
  { headers }: HttpAnswer,
  wallMs: number,
): { rateLimit: ReadRateLimit; nowMs: number } {
  const nowMs = dateOf(headers) ?? wallMs;
  const rateLimit = readRateLimitHeaders((name) => headerValue(headers, name), nowMs);
  return { rateLimit, nowMs };
}
