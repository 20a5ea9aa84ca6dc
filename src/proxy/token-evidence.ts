import { parseJson } from '../protocol/parse-json.ts';
import { readTokenResponse } from '../protocol/token-response.ts';
import { bodyText } from '../wire/body-text.ts';
import { isSuccess } from '../wire/client/http.ts';
import { concealAnswer, concealRequest } from '../wire/conceal.ts';
import type { Breakdown, TokenExchange } from '../wire/exchange.ts';
import { tokenFacts } from '../wire/token-facts.ts';
import { shortenText } from './evidence.ts';
import type { Secrets } from './secrets.ts';
import type { DeviceRequest, TargetAnswer } from './token-leg.ts';

/** How much of a body is kept, after its secrets are removed. */
const keptBytes = 64 * 1024;

/** When a request began, and the known secrets. */
export interface Moment {
  secrets: Secrets;
  startedAt: number;
  wallAt: number;
}

/** The exchange as evidence, without key and token. */
export function tokenEvidence(
  sent: DeviceRequest,
  answer: TargetAnswer,
  { secrets, startedAt, wallAt }: Moment,
): TokenExchange {
  const redactor = secrets.redactor();
  const request = concealRequest({ ...sent, body: bodyText(sent) }, redactor);
  const text = bodyText(answer);
  const token = isSuccess(answer.status) ? readTokenResponse(parseJson(text)) : undefined;
  if (token !== undefined) redactor.conceal(token);
  const { status, headers, firstByteMs, totalMs, failure } = answer;
  const breakdown: Breakdown | undefined = failure && { code: failure.code, message: failure.message };
  const concealed = concealAnswer({ status, headers, body: text, firstByteMs }, redactor);
  return {
    kind: 'token',
    ...{ at: startedAt, wallAt, totalMs, breakdown },
    request: { ...request, body: shortenText(request.body, keptBytes) },
    answer: { ...concealed, body: shortenText(concealed.body, keptBytes) },
    granted: token === undefined ? undefined : tokenFacts(token, redactor),
  };
}
