import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusal } from '../emulator/http/refusal.ts';
import { addressOf } from '../emulator/http/rejections.ts';
import type { State } from '../emulator/state/state.ts';
import type { Clock } from '../kernel/clock.ts';
import { toVoicectlError, type VoicectlError } from '../kernel/errors.ts';
import { createRedactor, type Redactor } from '../kernel/redact.ts';
import { shortText } from '../kernel/short-text.ts';
import type { TokenClaims } from '../protocol/claims.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { isRecord } from '../protocol/error-body.ts';
import { tokenPaths } from '../protocol/paths.ts';
import { readTokenResponse } from '../protocol/token-response.ts';
import { isSuccess } from '../wire/client/http.ts';
import { readRateLimit } from '../wire/client/rate-limit.ts';
import { concealAnswer, concealKey } from '../wire/conceal.ts';
import type { Breakdown, TokenExchange, TokenFacts } from '../wire/exchange.ts';
import { headerPairs } from '../wire/header-pairs.ts';
import { parseJson } from '../wire/parse-json.ts';
import { type HttpAnswer, sendAnswer } from '../wire/server/http-answer.ts';
import { tokenFacts } from '../wire/token-facts.ts';
import type { Judge } from './judge.ts';
import type { TokenMatches } from './match-tokens.ts';
import type { ProxyEvents } from './proxy-events.ts';
import type { Deadlines } from './reach-target.ts';
import { refusedByTarget } from './refused-by-target.ts';
import type { Secrets } from './secrets.ts';
import { askTarget, type DeviceRequest, relayAnswer, type TargetAnswer } from './token-leg.ts';

export interface TokenRequestsOptions {
  ca: string | undefined;
  deadlines: Deadlines;
  dialect: Dialect;
  clock: Clock;
  events: ProxyEvents;
  judge: Judge;
  matches: TokenMatches;
  secrets: Secrets;
  state: Pick<State, 'countRequest' | 'noteIssued'>;
}

/** Passes a request on, and tells what it was. Undefined where the device has been answered. */
export type PassRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  /** `url`: of the target; `path`: of the request, without its query. */
  about: { url: string; path: string; body: Buffer },
) => Promise<void>;

export function createTokenRequests(options: TokenRequestsOptions): PassRequest {
  const { clock, dialect, events, secrets, ca, deadlines } = options;

  return async (request, response, { url, path, body }) => {
    const startedAt = clock.now();
    const wallAt = clock.wall();
    const sent: DeviceRequest = {
      method: request.method ?? '',
      url,
      headers: headerPairs(request.rawHeaders),
      body,
    };
    const isToken = tokenPaths.includes(path);
    const asker = isToken ? readAsker(body, secrets) : { device: undefined };
    const about = { path: shortText(path), remote: addressOf(request), ...given(asker.device) };
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      const arrived = await askTarget(sent, { ca, ...deadlines }, gone.signal);
      const answer = await relayAnswer(arrived, response, deadlines, startedAt);
      const told = tell(sent, answer, { ...options, startedAt, wallAt });
      if (isToken) noteToken(told, asker.device, about, options);
      else if (answer.status >= 400) {
        const shown = { status: answer.status, body: told.answer?.body ?? '' };
        events.of.service.emit(refusedByTarget(shown, about));
      }
    } catch (thrown) {
      const failure = toVoicectlError(thrown);
      if (gone.signal.aborted) return;
      const answer = refusal('unavailable', {
        dialect,
        events: events.of.service,
        ...about,
        detail: whyText(failure),
      });
      sendIfPossible(response, answer);
    }
  };
}

function whyText({ message, hint }: VoicectlError): string {
  return hint === undefined ? message : `${message}. ${hint}`;
}

function given(device: string | undefined): { device?: string } {
  return device === undefined ? {} : { device };
}

function sendIfPossible(response: ServerResponse, answer: HttpAnswer): void {
  if (response.headersSent || response.destroyed) response.destroy();
  else sendAnswer(response, { ...answer, hangUp: true });
}

/** The device that a body names. Learns its key, which must reach no output. */
function readAsker(body: Buffer, secrets: Secrets): { device: string | undefined } {
  const fields = parseJson(body.toString());
  if (!isRecord(fields)) return { device: undefined };
  const { apiKey, deviceId } = fields;
  if (typeof apiKey === 'string') secrets.learn(apiKey);
  return { device: typeof deviceId === 'string' && deviceId !== '' ? deviceId : undefined };
}

interface Moment extends Pick<TokenRequestsOptions, 'secrets'> {
  startedAt: number;
  wallAt: number;
}

/** The exchange as evidence, without key and token. */
function tell(
  sent: DeviceRequest,
  answer: TargetAnswer,
  { secrets, startedAt, wallAt }: Moment,
): TokenExchange {
  const redactor = secrets.redactor();
  const text = answer.body.toString();
  const token = isSuccess(answer.status) ? readTokenResponse(parseJson(text)) : undefined;
  if (token !== undefined) redactor.conceal(token);
  const { status, headers, firstByteMs, totalMs, failure } = answer;
  const breakdown: Breakdown | undefined = failure && { code: failure.code, message: failure.message };
  return {
    kind: 'token',
    ...{ at: startedAt, wallAt, totalMs, breakdown },
    request: {
      method: sent.method,
      url: redactor.text(sent.url),
      headers: sent.headers.map(([name, value]) => [name, redactor.text(value)] as const),
      body: redactor.text(concealKey(sent.body.toString())),
    },
    answer: concealAnswer({ status, headers, body: text, firstByteMs }, redactor),
    granted: token === undefined ? undefined : factsOf(token, redactor),
  };
}

function factsOf(token: string, redactor: Redactor): TokenFacts {
  return tokenFacts(token, redactor ?? createRedactor());
}

/** Remembers what a token request brought, tells it, and has it judged. */
function noteToken(
  told: TokenExchange,
  device: string | undefined,
  about: { path: string; remote: string; device?: string },
  { clock, events, judge, matches, state }: TokenRequestsOptions,
): void {
  matches.granted(told);
  const { answer, granted } = told;
  if (granted !== undefined && answer !== undefined) {
    const claims = granted.claims ?? {};
    const { rateLimit } = readRateLimit(answer, clock.wall());
    const named = device ?? String(claims.sub ?? '');
    void state.countRequest(named);
    if (typeof claims.jti === 'string' && typeof claims.exp === 'number')
      void state.noteIssued(claims as unknown as TokenClaims);
    events.of.service.emit({
      type: 'token-issued',
      device: named,
      jti: typeof claims.jti === 'string' ? claims.jti : '',
      exp: typeof claims.exp === 'number' ? claims.exp : 0,
      remaining: rateLimit.remaining ?? 0,
      resetAtMs: rateLimit.resetAtMs ?? 0,
    });
  } else if (answer !== undefined) events.of.service.emit(refusedByTarget(answer, about));
  judge.token({ device: told, service: told }, device);
}
