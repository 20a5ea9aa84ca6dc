import { waitUntil } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { createRedactor, type Redactor } from '../../kernel/redact.ts';
import { concealUrl } from '../../kernel/secret-fields.ts';
import { readError } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { type ApiVersion, serviceUrl, tokenPath } from '../../protocol/paths.ts';
import { type ReadRateLimit, readMoment, retryAfterHeaderName } from '../../protocol/rate-limit.ts';
import { developmentKey, jsonMediaType, type TokenRequest } from '../../protocol/token-request.ts';
import { isSendable, readTokenResponse } from '../../protocol/token-response.ts';
import { concealAnswer, concealRequest, concealTokens } from '../conceal.ts';
import type { Header, HttpAnswer, HttpRequest, TokenExchange } from '../exchange.ts';
import { flattenHeaders, headerValue, readRateLimit } from '../headers.ts';
import { type ClientLeg, type HttpLeg, type HttpOutcome, isSuccess, sendRequest } from './http.ts';

export interface TokenOptions extends TokenRequest, Omit<ClientLeg, 'redactor'> {
  baseUrl: string;
  apiVersion?: ApiVersion | undefined;
  /** Attempts after the first. */
  retries: number;
  /** For each attempt, until its answer is complete. Default 15 s. */
  timeoutMs?: number | undefined;
  /** Learns the key and the token, and removes them from all reports. Default: a new one. */
  redactor?: Redactor;
  /** Called before each wait for a further attempt. */
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

/** A token and the rest of its answer. */
export interface TokenGrant {
  token: string;
  status: number;
  headers: Record<string, string>;
  rateLimit: ReadRateLimit;
  /** The clock's time when the answer was complete. */
  at: number;
  timing: { attempts: number; firstByteMs: number; totalMs: number };
}

const firstBackoffMs = 250;
const longestBackoffMs = 8_000;
/** Longest wait that a service may demand. Beyond it the request fails. */
const longestWaitMs = 120_000;

/**
 * Requests a token. Specification: "POST /api/websocket-voice/token". Rate limits, timeouts of the
 * service (408) and connection failures are retried with exponential backoff and jitter, never sooner
 * than `Retry-After` or the reset header say. Nothing else is retried.
 *
 * Throws `VoicectlError`: `auth-refused`, `rate-limited`, `connect-failed`, `tls-failed`, `redirected`,
 * `protocol-violation`, `timed-out`, or the signal's reason.
 */
export async function requestToken(options: TokenOptions): Promise<TokenGrant> {
  const { clock, signal, retries, onRetry, redactor = createRedactor() } = options;
  redactor.conceal(options.apiKey);
  const startedAt = clock.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { firstByteMs, ...grant } = await attemptOnce({ ...options, redactor });
      return { ...grant, timing: { attempts: attempt, firstByteMs, totalMs: grant.at - startedAt } };
    } catch (thrown) {
      const error = redactor.thrown(thrown);
      if (signal.aborted || !(error instanceof VoicectlError) || !error.retryable) throw error;
      const delayMs = delayBefore(attempt + 1, error, options);
      if (attempt > retries || delayMs > longestWaitMs) throw error;
      onRetry?.({ attempt, delayMs, error });
      await waitUntil(clock, clock.now() + delayMs, signal);
    }
  }
}

/** The backoff minus up to half of it, but at least the wait that the service asked for and up to 50 ms. */
function delayBefore(
  attempt: number,
  { details: { retryAfterMs } }: VoicectlError,
  { random = Math.random }: TokenOptions,
): number {
  const backoffMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 2)) * (0.5 + random() / 2);
  const askedMs = retryAfterMs === undefined ? 0 : retryAfterMs + 50 * random();
  return Math.ceil(Math.max(backoffMs, askedMs));
}

type Attempt = Omit<TokenGrant, 'timing'> & { firstByteMs: number };

async function attemptOnce(options: TokenOptions & { redactor: Redactor }): Promise<Attempt> {
  const { baseUrl, apiVersion, apiKey, deviceId, clock, tap } = options;
  const url = serviceUrl(baseUrl, tokenPath(apiVersion));
  const body = JSON.stringify({ apiKey, deviceId });
  const asked = await ask({ method: 'POST', url, headers: tokenRequestHeaders, body }, options);
  if (tap?.token !== undefined) tap.token(await asked.evidence());
  const { answer, failure } = asked.outcome;
  const isRefused = answer?.status !== 200 && asked.token === undefined;
  // A refusal stays a refusal, even if its body is cut, endless or missing.
  if (answer === undefined || (failure !== undefined && !isRefused)) throw failure;
  const { status, firstByteMs } = answer;
  const { rateLimit, nowMs } = readRateLimit(answer, clock.wall());
  if (isRefused) throw refusal(answer, asked.json, { url, rateLimit, nowMs, apiKey });
  if (asked.token === undefined) {
    throw new VoicectlError(
      'protocol-violation',
      `No token in the answer from ${concealUrl(url)} (status ${status})`,
      {
        hint: 'The body should be a JSON object with a "token" string.',
        details: { answer },
      },
    );
  }
  if (!isSendable(asked.token)) {
    const text = `The token from ${concealUrl(url)} contains white space or control characters`;
    throw new VoicectlError('protocol-violation', text, {
      hint: 'It should be a JWT: it is sent as it is, as the first message of the stream.',
      details: { answer },
    });
  }
  const headers = flattenHeaders(answer.headers);
  const at = asked.outcome.at + asked.outcome.totalMs;
  return { token: asked.token, status, headers, rateLimit, at, firstByteMs };
}

const tokenRequestHeaders: readonly Header[] = [
  ['Content-Type', jsonMediaType],
  ['Accept', jsonMediaType],
];

interface RefusalContext {
  url: string;
  rateLimit: ReadRateLimit;
  nowMs: number;
  apiKey: string;
}

/** "A client treats any non-200 token response as an authentication failure." Specification: "Errors". */
function refusal(
  answer: HttpAnswer,
  json: unknown,
  { url, rateLimit, nowMs, apiKey }: RefusalContext,
): VoicectlError {
  const { status, headers } = answer;
  const { code, message } = readError(json);
  const details = { status, serviceCode: code, serviceMessage: message, answer };
  const said = [code, message].filter((text) => text !== undefined).join(': ') || 'no reason given';
  if (status >= 300 && status < 400) {
    const text = `${concealUrl(url)} redirects (status ${status}), but a key never follows a redirect`;
    return new VoicectlError('redirected', text, {
      hint: 'Give the final address with --base-url.',
      details,
    });
  }
  if (status === 429) {
    const retryAt = readMoment(headerValue(headers, retryAfterHeaderName), nowMs) ?? nowMs;
    const retryAfterMs = Math.max(0, Math.max(retryAt, rateLimit.resetAtMs ?? nowMs) - nowMs);
    return new VoicectlError('rate-limited', `Token request rate limited (status 429): ${said}`, {
      retryable: true,
      hint: retryHint(retryAfterMs, nowMs),
      details: { ...details, rateLimit, retryAfterMs },
    });
  }
  if (apiKey === developmentKey && (status === 401 || status === 403)) {
    const text = `No API key was set, and the service refuses the made-up one (status ${status}): ${said}`;
    return new VoicectlError('auth-refused', text, {
      hint: madeUpKeyHint,
      details,
    });
  }
  return new VoicectlError('auth-refused', `Token request refused (status ${status}): ${said}`, {
    retryable: status === 408,
    hint: hintFor(status),
    details,
  });
}

const longWaitMs = 3_600_000;
/** The last moment that a `Date` can represent. */
const lastMs = 8.64e15;

function retryHint(waitMs: number, nowMs: number): string | undefined {
  if (waitMs <= 0) return undefined;
  if (waitMs <= longWaitMs) return `Try again in ${Math.ceil(waitMs / 1000)} s.`;
  return `Try again at ${new Date(Math.min(nowMs + waitMs, lastMs)).toISOString()}.`;
}

/** What to do about a key that was made up because none was set. */
export const madeUpKeyHint = 'Set VOICECTL_API_KEY, or use --api-key-file FILE (- reads standard input).';

function hintFor(status: number): string {
  if (status === 404) return 'Check --base-url, and --api-version for the versioned path.';
  if (status >= 500) return 'The service, or a proxy in front of it, failed: see their logs.';
  return 'Check the API key and the device ID.';
}

/** A leg that keeps secrets out of its evidence. */
export interface AskLeg extends HttpLeg {
  /** Removes known secrets, and learns the token of the answer. */
  redactor: Redactor;
}

/** The result of one request to the service. */
export interface Asked {
  /** With the answer, without secrets. */
  outcome: HttpOutcome;
  /** The body as JSON, without secrets; undefined if it is not JSON. */
  json: unknown;
  /** The token that was granted. */
  token: string | undefined;
  /** The request and its answer as evidence. Made on demand, because hashing a token loads Node's crypto. */
  evidence(): Promise<TokenExchange>;
}

/**
 * Sends a request to the service over HTTP. A refusal, a redirect and a connection that breaks are results too. Throws only
 * the reason of an aborted signal.
 */
export async function ask(request: HttpRequest, leg: AskLeg): Promise<Asked> {
  const { redactor } = leg;
  const sent = await sendRequest(request, leg);
  const parsed = sent.answer && parseJson(sent.answer.body);
  const token = isSuccess(sent.answer?.status ?? 0) ? readTokenResponse(parsed) : undefined;
  if (token !== undefined) redactor.conceal(token);
  const json = sent.answer && redactor.value(parseJson(concealTokens(sent.answer.body)));
  const answer = sent.answer && concealAnswer(sent.answer, redactor);
  const outcome = { ...sent, answer };
  return {
    outcome,
    json,
    token,
    async evidence() {
      const { at, wallAt, totalMs, failure } = outcome;
      return {
        kind: 'token',
        at,
        wallAt,
        request: concealRequest(request, redactor),
        answer,
        granted:
          token === undefined ? undefined : (await import('../token-facts.ts')).tokenFacts(token, redactor),
        breakdown: failure && { code: failure.code, message: redactor.text(failure.message) },
        totalMs,
      };
    },
  };
}
