import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { readError } from '../../protocol/error-body.ts';
import { type ApiVersion, serviceUrl, tokenPath } from '../../protocol/paths.ts';
import {
  type ReadRateLimit,
  readMoment,
  readRateLimitHeaders,
  retryAfterHeaderName,
} from '../../protocol/rate-limit.ts';
import type { TokenRequest } from '../../protocol/token-request.ts';
import { readTokenResponse } from '../../protocol/token-response.ts';
import { type HttpResult, isSuccess, postJson } from './http.ts';

export interface TokenOptions extends TokenRequest {
  baseUrl: string;
  apiVersion?: ApiVersion | undefined;
  /** Attempts after the first. */
  retries: number;
  /** PEM of what to trust in place of the built-in authorities. */
  ca?: string | undefined;
  clock: Clock;
  signal: AbortSignal;
  /** Told of each wait before a further attempt. */
  onRetry?: (retry: TokenRetry) => void;
  /** 0 to 1; for tests. Default `Math.random`. */
  random?: () => number;
}

export interface TokenRetry {
  /** The attempt that failed, from 1. */
  attempt: number;
  delayMs: number;
  error: VoicectlError;
}

/** A token and all that came with it. */
export interface TokenGrant {
  token: string;
  status: number;
  headers: Record<string, string>;
  rateLimit: ReadRateLimit;
  timing: { attempts: number; firstByteMs: number; totalMs: number };
}

const firstBackoffMs = 250;
const longestBackoffMs = 8_000;
/** A service that asks for more patience than this is given up on. */
const longestWaitMs = 120_000;

/**
 * Asks for a token. Specification: "POST /api/websocket-voice/token". Rate limits, timeouts of the
 * service (408) and connection failures are retried with exponential backoff and jitter, never sooner
 * than `Retry-After` or the reset header say; nothing else is.
 *
 * Throws `VoicectlError`: `auth-refused`, `rate-limited`, `connect-failed`, `tls-failed`, `redirected`,
 * `protocol-violation`, `timed-out`, or the signal's reason.
 */
export async function requestToken(options: TokenOptions): Promise<TokenGrant> {
  const { clock, signal, retries, onRetry } = options;
  const startedAt = clock.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { firstByteMs, ...grant } = await attemptOnce(options);
      return { ...grant, timing: { attempts: attempt, firstByteMs, totalMs: clock.now() - startedAt } };
    } catch (error) {
      if (signal.aborted || !(error instanceof VoicectlError) || !error.retryable) throw error;
      const delayMs = delayBefore(attempt + 1, error, options);
      if (attempt > retries || delayMs > longestWaitMs) throw error;
      onRetry?.({ attempt, delayMs, error });
      await waitUntil(clock, clock.now() + delayMs, signal);
    }
  }
}

/** Full backoff less up to half of it; where the service asked for patience that, and a little more. */
function delayBefore(
  attempt: number,
  { details: { retryAfterMs } }: VoicectlError,
  { random = Math.random }: TokenOptions,
): number {
  const backoffMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 2)) * (0.5 + random() / 2);
  const askedMs = typeof retryAfterMs === 'number' ? retryAfterMs + 50 * random() : 0;
  return Math.ceil(Math.max(backoffMs, askedMs));
}

type Attempt = Omit<TokenGrant, 'timing'> & { firstByteMs: number };

async function attemptOnce(options: TokenOptions): Promise<Attempt> {
  const { baseUrl, apiVersion, apiKey, deviceId, ca, clock, signal } = options;
  const url = serviceUrl(baseUrl, tokenPath(apiVersion));
  const result = await postJson(url, { apiKey, deviceId }, { clock, signal, ca });
  const { status, headers, firstByteMs } = result;
  // By the service's own time where it tells it: a reset is a moment of that, and our clock may be wrong.
  const nowMs = readMoment(headers.date, clock.wall()) ?? clock.wall();
  const rateLimit = readRateLimitHeaders((name) => headers[name.toLowerCase()], nowMs);
  if (!isSuccess(status)) throw refusal(result, { url, rateLimit, nowMs });
  const token = readTokenResponse(result.json);
  if (token === undefined) {
    throw new VoicectlError('protocol-violation', `No token in the answer of ${url} (status ${status})`, {
      hint: 'The body should be a JSON object with a "token" string.',
    });
  }
  return { token, status, headers, rateLimit, firstByteMs };
}

interface RefusalContext {
  url: string;
  rateLimit: ReadRateLimit;
  nowMs: number;
}

/** "A client treats any non-200 token response as an authentication failure." Specification: "Errors". */
function refusal(
  { status, headers, json }: HttpResult,
  { url, rateLimit, nowMs }: RefusalContext,
): VoicectlError {
  const { code, message } = readError(json);
  const details = { status, serviceCode: code, serviceMessage: message };
  const said = [code, message].filter((text) => text !== undefined).join(': ') || 'no reason given';
  if (status >= 300 && status < 400) {
    const text = `${url} redirects (status ${status}), and a key is never sent on`;
    return new VoicectlError('redirected', text, {
      hint: 'Give the final address with --base-url.',
      details,
    });
  }
  if (status === 429) {
    const retryAt = readMoment(headers[retryAfterHeaderName.toLowerCase()], nowMs) ?? nowMs;
    const retryAfterMs = Math.max(0, Math.max(retryAt, rateLimit.resetAtMs ?? nowMs) - nowMs);
    return new VoicectlError('rate-limited', `Token request rate limited (status 429): ${said}`, {
      retryable: true,
      hint: retryAfterMs > 0 ? `Try again in ${Math.ceil(retryAfterMs / 1000)} s.` : undefined,
      details: { ...details, rateLimit, retryAfterMs },
    });
  }
  return new VoicectlError('auth-refused', `Token request refused (status ${status}): ${said}`, {
    retryable: status === 408,
    hint:
      status === 404
        ? 'Check --base-url, and --api-version for the versioned path.'
        : 'Check the API key and the device id.',
    details,
  });
}
