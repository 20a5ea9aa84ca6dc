import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { createRedactor } from '../../kernel/redact.ts';
import type { RequestWatch } from '../../service/http/service-server.ts';
import { concealAnswer, concealRequest } from '../../wire/conceal.ts';
import type { HttpAnswer as AnswerSeen } from '../../wire/exchange.ts';
import { headerPairs } from '../../wire/headers.ts';
import { answerHead, answerText, type HttpAnswer } from '../../wire/server/http-answer.ts';
import type { Tap } from '../../wire/tap.ts';
import { tokenFacts } from '../../wire/token-facts.ts';

/** Passes a token request to a tap, as the service sees it, without key and token. */
export function watchTokenRequest(request: IncomingMessage, tap: Tap, clock: Clock): RequestWatch {
  const [at, wallAt] = [clock.now(), clock.wall()];
  const { method = '', url = '', rawHeaders } = request;
  const asked = { method, url, headers: headerPairs(rawHeaders) };
  return {
    body: '',
    answered(answer) {
      const totalMs = clock.now() - at;
      const token =
        typeof answer?.body === 'object' && 'token' in answer.body ? answer.body.token : undefined;
      const redactor = createRedactor();
      if (token !== undefined) redactor.conceal(token);
      tap.token?.({
        kind: 'token',
        ...{ at, wallAt, totalMs },
        request: concealRequest({ ...asked, body: this.body }, redactor),
        answer: answer && concealAnswer(seenAnswer(answer, totalMs), redactor),
        granted: token === undefined ? undefined : tokenFacts(token, redactor),
        breakdown: undefined,
      });
    },
  };
}

function seenAnswer(answer: HttpAnswer, firstByteMs: number): AnswerSeen {
  const body = answerText(answer);
  return { status: answer.status, headers: headerPairs(answerHead(answer, body)), body, firstByteMs };
}
