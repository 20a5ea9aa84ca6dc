import type { Redactor } from '../../kernel/redact.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { readTokenResponse } from '../../protocol/token-response.ts';
import { concealAnswer, concealRequest } from '../conceal.ts';
import type { HttpRequest, TokenExchange } from '../exchange.ts';
import { type HttpLeg, type HttpOutcome, isSuccess, sendRequest } from './http.ts';

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
  const json = redactor.value(parsed);
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
