import { type ReadRateLimit, readMoment, readRateLimitHeaders } from '../../protocol/rate-limit.ts';
import type { HttpAnswer } from '../exchange.ts';
import { headerValue } from './http.ts';

/**
 * What an answer says of the limit, and the moment that it says it: the service's own time where it tells it, since a
 * reset is a moment of that and our clock may be wrong. `wallMs` is ours, milliseconds since the epoch.
 */
export function readRateLimit(
  { headers }: HttpAnswer,
  wallMs: number,
): { rateLimit: ReadRateLimit; nowMs: number } {
  const nowMs = readMoment(headerValue(headers, 'date'), wallMs) ?? wallMs;
  const rateLimit = readRateLimitHeaders((name) => headerValue(headers, name.toLowerCase()), nowMs);
  return { rateLimit, nowMs };
}
