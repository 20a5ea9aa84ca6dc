import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import type { TokenClaims } from '../protocol/claims.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { isRecord } from '../protocol/error-body.ts';
import type { FaultAt } from '../protocol/faults.ts';
import { parseJson } from '../protocol/parse-json.ts';
import {
  tokenRequestsPerWindow,
  usedUp,
  writeRateLimitHeaders,
  writeRetryAfter,
} from '../protocol/rate-limit.ts';
import type { TokenResponse } from '../protocol/token-response.ts';
import {
  answerWithFaults,
  spoilClaims,
  spoilSignature,
  type TokenAnswers,
  type WrongToken,
} from '../service/faults/token-faults.ts';
import { refuseRequest } from '../service/http/refusal.ts';
import { bodyText } from '../wire/body-text.ts';
import { headerPairs } from '../wire/headers.ts';
import { answerHead, answerText, type OutgoingAnswer, sendAnswer } from '../wire/server/http-answer.ts';
import { type Moment, tokenEvidence } from './evidence.ts';
import { passedHeaders } from './headers.ts';
import type { SeenTokenRequest } from './judge.ts';
import type { ProxyEvents } from './proxy-events.ts';
import { type DeviceRequest, readAnswer, type TargetAnswer } from './token-leg.ts';

export interface SpoilTokenOptions {
  clock: Clock;
  dialect: Dialect;
  events: ProxyEvents;
  sent: DeviceRequest;
  moment: Moment;
  about: { path: string; remote: string; device?: string };
  /** Sends the request to the target. */
  ask(): Promise<IncomingMessage>;
  /** Aborts when the device disconnects. */
  gone: AbortSignal;
}

/**
 * Answers a token request according to the faults. Returns what each side has seen of it. Rejects if the device disconnects
 * during a delay: the target is then not asked.
 */
export async function spoilToken(
  struck: readonly FaultAt<'token'>[],
  response: ServerResponse,
  options: SpoilTokenOptions,
): Promise<SeenTokenRequest> {
  const { clock, sent, moment } = options;
  let arrived: TargetAnswer | undefined;
  const normal = async (wrong?: WrongToken): Promise<OutgoingAnswer> => {
    arrived = await readAnswer(await options.ask(), options, moment.startedAt);
    return writeAgain(arrived, wrong);
  };
  const answer = await answerWithFaults(struck, { normal, ...madeUp(options) }, clock, options.gone);
  const service = arrived && tokenEvidence(sent, arrived, moment);
  if (typeof answer === 'string') {
    if (answer === 'reset') response.socket?.resetAndDestroy();
    return { device: undefined, service };
  }
  const text = answerText(answer);
  const totalMs = clock.now() - moment.startedAt;
  const body = Buffer.from(text);
  const headers = headerPairs(answerHead(answer, text));
  const spoilt = { status: answer.status, headers, body, firstByteMs: totalMs, totalMs, failure: undefined };
  if (!response.destroyed) sendAnswer(response, answer);
  return { device: tokenEvidence(sent, spoilt, moment), service };
}

/** Answers that the target did not give. */
function madeUp({ clock, dialect, events, about }: SpoilTokenOptions): Omit<TokenAnswers, 'normal'> {
  return {
    refuse: (cause) => refuseRequest(cause, { dialect, events, ...about }),
    limited(resetInMs) {
      const { resetFormat, retryAfter } = dialect.rateLimit;
      const rate = usedUp(tokenRequestsPerWindow, { resetInMs, nowMs: clock.wall() });
      const headers = [...writeRateLimitHeaders(rate, resetFormat), ...writeRetryAfter(rate, retryAfter)];
      return { ...refuseRequest('rateLimited', { dialect, events, ...about }), headers };
    },
  };
}

/** The changed answer has its own; its body is not compressed. */
const ownHeaders = ['content-length', 'content-type', 'cache-control', 'content-encoding'];

/** The answer of the target, with a wrong token instead of its own. */
function writeAgain(answer: TargetAnswer, wrong: WrongToken | undefined): OutgoingAnswer {
  const { status, headers } = answer;
  const text = bodyText(answer);
  const parsed = parseJson(text);
  const value = isRecord(parsed) ? parsed : undefined;
  const token = value?.token;
  const spoilt =
    value !== undefined && typeof token === 'string' && wrong !== undefined
      ? { ...value, token: wrongToken(token, wrong) }
      : value;
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return {
    status,
    body: (spoilt as TokenResponse | undefined) ?? text,
    headers: passedHeaders(headers, ownHeaders),
    ...(type === undefined ? {} : { mediaType: type }),
  };
}

/** A token that the service refuses: other claims make the signature wrong too. */
function wrongToken(token: string, wrong: WrongToken): string {
  const [head = '', claims = '', signature = ''] = token.split('.');
  if (wrong === 'bad-signature') return spoilSignature(token);
  const right = parseJson(Buffer.from(claims, 'base64url').toString());
  if (!isRecord(right)) return spoilSignature(token);
  const changed = JSON.stringify(spoilClaims(right as unknown as TokenClaims, wrong));
  return [head, Buffer.from(changed).toString('base64url'), signature].join('.');
}
