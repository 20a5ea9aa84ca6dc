import type { Clock } from '../clock.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { type RateLimit, retryAfterHeaderName, writeRateLimitHeaders } from '../protocol/rate-limit.ts';
import { parseTokenRequest } from '../protocol/token-request.ts';
import type { EmulatorEvents } from './events.ts';
import type { HttpAnswer } from './http-answer.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { invalidRequest, refusal } from './refusal.ts';
import type { TokenAuthority } from './token-authority.ts';

export interface TokenEndpointOptions {
  clock: Clock;
  dialect: Dialect;
  events: EmulatorEvents;
  authority: TokenAuthority;
  limiter: RateLimiter;
  accepts: (apiKey: string) => boolean;
}

/** Answers the body of a token request. Specification: "POST /api/websocket-voice/token". */
export type TokenEndpoint = (body: Uint8Array) => Promise<HttpAnswer>;

export function createTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  const { clock, dialect, events, authority, limiter, accepts } = options;
  const { headersOn, resetFormat } = dialect.rateLimit;

  const limitHeaders = (rate: RateLimit & { allowed: boolean }): [string, string][] => {
    const wanted = headersOn === 'all' || headersOn === (rate.allowed ? 'success' : 'limited');
    return wanted ? writeRateLimitHeaders(rate, resetFormat, clock.wall()) : [];
  };

  return async (body) => {
    const parsed = parseTokenRequest(body);
    if (!parsed.ok) return invalidRequest(parsed.problem, { dialect, events });
    const { apiKey, deviceId } = parsed.request;
    if (!accepts(apiKey)) return refusal('unauthorized', { dialect, events, device: deviceId });
    const rate = limiter.take(deviceId);
    // A client that measures the reset against this header sees the emulator's time, also when it was moved.
    const date: [string, string] = ['Date', new Date(clock.wall()).toUTCString()];
    const headers = [date, ...limitHeaders(rate)];
    if (!rate.allowed) {
      const retryAfter = writeRetryAfter(rate.resetAtMs, dialect.rateLimit.retryAfter, clock.wall());
      const answer = refusal('rateLimited', { dialect, events, device: deviceId });
      return { ...answer, headers: [...headers, ...retryAfter] };
    }
    const { token, claims } = await authority.issue(deviceId);
    const { remaining, resetAtMs } = rate;
    events.emit({
      type: 'token-issued',
      device: deviceId,
      jti: claims.jti,
      exp: claims.exp,
      remaining,
      resetAtMs,
    });
    return { status: 200, body: { token }, headers };
  };
}

function writeRetryAfter(
  atMs: number,
  format: Dialect['rateLimit']['retryAfter'],
  nowMs: number,
): [string, string][] {
  const seconds = Math.max(1, Math.ceil((atMs - nowMs) / 1000));
  if (format === 'none') return [];
  const value = format === 'seconds' ? String(seconds) : new Date(nowMs + seconds * 1000).toUTCString();
  return [[retryAfterHeaderName, value]];
}
