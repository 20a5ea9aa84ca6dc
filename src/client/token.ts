import type { Clock } from '../clock.ts';
import { waitUntil } from '../clock.ts';
import { VoicectlError } from '../errors.ts';
import { readError } from '../protocol/error-body.ts';
import { type ApiVersion, serviceUrl, tokenPath } from '../protocol/paths.ts';
import {
  type ReadRateLimit,
  readMoment,
  readRateLimitHeaders,
  retryAfterHeaderName,
} from '../protocol/rate-limit.ts';
import type { TokenRequest } from '../protocol/token-request.ts';
import { readTokenResponse } from '../protocol/token-response.ts';
import { type HttpResult, postJson } from './http.ts';

export interface TokenOptions extends TokenRequest {
  baseUrl: string;
  apiVersion?: ApiVersion | undefined;
  /** Attempts after the first. */
  retries: number;
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
  const { clock, signal, retries, random = Math.random } = options;
  const startedAt = clock.now();
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await attemptOnce(options);
    if (!(outcome instanceof TokenFailure)) {
      const { firstByteMs } = outcome.timing;
      return { ...outcome, timing: { attempts: attempt, firstByteMs, totalMs: clock.now() - startedAt } };
    }
    const { error, notBeforeMs } = outcome;
    const backoffMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1)) * (0.5 + random() / 2);
    const delayMs = Math.round(Math.max(backoffMs, notBeforeMs + 50 * random()));
    if (!error.retryable || attempt > retries || delayMs > longestWaitMs) throw error;
    options.onRetry?.({ attempt, delayMs, error });
    await waitUntil(clock, clock.now() + delayMs, signal);
  }
}

/** A failed attempt, and how long the service asked to be left alone. */
class TokenFailure {
  readonly error: VoicectlError;
  readonly notBeforeMs: number;

  constructor(error: VoicectlError, notBeforeMs = 0) {
    this.error = error;
    this.notBeforeMs = notBeforeMs;
  }
}

async function attemptOnce(options: TokenOptions): Promise<TokenGrant | TokenFailure> {
  const { baseUrl, apiVersion, apiKey, deviceId, clock, signal } = options;
  const url = serviceUrl(baseUrl, tokenPath(apiVersion));
  let result: HttpResult;
  try {
    result = await postJson(url, { apiKey, deviceId }, { clock, signal });
  } catch (thrown) {
    if (thrown instanceof VoicectlError && !signal.aborted) return new TokenFailure(thrown);
    throw thrown;
  }
  const header = (name: string) => result.headers[name.toLowerCase()];
  const rateLimit = readRateLimitHeaders(header, clock.wall());
  if (result.status < 200 || result.status > 299) return refused(result, url, rateLimit, clock.wall());
  const token = readTokenResponse(result.json);
  if (token === undefined) {
    const error = new VoicectlError(
      'protocol-violation',
      `No token in the answer of ${url} (status ${result.status})`,
      {
        hint: 'The body should be a JSON object with a "token" string.',
      },
    );
    return new TokenFailure(error);
  }
  const { status, headers, firstByteMs } = result;
  return { token, status, headers, rateLimit, timing: { attempts: 1, firstByteMs, totalMs: 0 } };
}

/** "A client treats any non-200 token response as an authentication failure." Specification: "Errors". */
function refused(result: HttpResult, url: string, rateLimit: ReadRateLimit, nowMs: number): TokenFailure {
  const { status, headers, json } = result;
  const { code, message } = readError(json);
  const details = { status, serviceCode: code, serviceMessage: message };
  const said = [code, message].filter((text) => text !== undefined).join(': ') || 'no reason given';
  if (status >= 300 && status < 400) {
    const error = new VoicectlError(
      'redirected',
      `${url} redirects (status ${status}), and a key is never sent on`,
      {
        hint: 'Give the final address with --base-url.',
        details,
      },
    );
    return new TokenFailure(error);
  }
  if (status === 429) {
    const error = new VoicectlError('rate-limited', `Token request rate limited (status 429): ${said}`, {
      retryable: true,
      details: { ...details, rateLimit },
    });
    const retryAt = readMoment(headers[retryAfterHeaderName.toLowerCase()], nowMs) ?? nowMs;
    return new TokenFailure(error, Math.max(retryAt, rateLimit.resetAtMs ?? nowMs) - nowMs);
  }
  const error = new VoicectlError('auth-refused', `Token request refused (status ${status}): ${said}`, {
    retryable: status === 408,
    hint:
      status === 404
        ? 'Check --base-url, and --api-version for the versioned path.'
        : 'Check the API key and the device id.',
    details,
  });
  return new TokenFailure(error);
}
