import { type ReadRateLimit, readRateLimitHeaders } from '../../protocol/rate-limit.ts';
import type { HttpAnswer } from '../exchange.ts';
import { dateOf, headerValue } from '../headers.ts';

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
