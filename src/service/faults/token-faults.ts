import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { audience, type TokenClaims } from '../../protocol/claims.ts';
import type { RefusalCause } from '../../protocol/dialect.ts';
import { errorBody } from '../../protocol/error-body.ts';
import type { FaultAt } from '../../protocol/faults.ts';
import { answerText, type OutgoingAnswer } from '../../wire/server/http-answer.ts';

/** What is wrong with a token that a fault issues and the stream refuses. */
export type WrongToken = 'expired' | 'future' | 'other-audience' | 'other-issuer' | 'bad-signature';

/** No answer: the request is left waiting, or its connection is reset. */
export type Unanswered = 'hang' | 'reset';

export interface TokenAnswers {
  /** The answer without a fault; with `wrong`, with a token that the stream refuses for that reason. */
  normal(wrong?: WrongToken): Promise<OutgoingAnswer>;
  /** In the wording of the dialect. */
  refuse(cause: RefusalCause): OutgoingAnswer;
  /** The answer for a used-up window that resets after `resetInMs`. */
  limited(resetInMs: number): OutgoingAnswer;
}

const htmlPage = '<!doctype html><title>502 Bad Gateway</title><h1>502 Bad Gateway</h1>\n';
const hugeTokenBytes = 1024 * 1024;

/**
 * Answers a token request with the faults that struck it: delays add up, then the first other fault decides. Rejects
 * with the signal's reason if it aborts during a delay.
 */
export async function answerWithFaults(
  struck: readonly FaultAt<'token'>[],
  answers: TokenAnswers,
  clock: Clock,
  signal?: AbortSignal,
): Promise<OutgoingAnswer | Unanswered> {
  for (const fault of struck) {
    if (fault.name === 'token-slow') await waitUntil(clock, clock.now() + fault.delay, signal);
  }
  const [fault] = struck.filter(({ name }) => name !== 'token-slow');
  return fault === undefined ? answers.normal() : answerWith(fault, answers);
}

async function answerWith(
  fault: FaultAt<'token'>,
  answers: TokenAnswers,
): Promise<OutgoingAnswer | Unanswered> {
  switch (fault.name) {
    case 'token-slow':
      return answers.normal();
    case 'token-error':
      return { status: fault.status, body: errorBody(fault.code, fault.message) };
    case 'token-unauthorized':
      return answers.refuse('unauthorized');
    case 'token-unavailable':
      return answers.refuse('unavailable');
    case 'rate-limited':
      return answers.limited(fault.reset);
    case 'token-hang':
      return 'hang';
    case 'token-reset':
      return 'reset';
    case 'token-redirect':
      return {
        status: 307,
        body: errorBody('MOVED', 'The service has moved'),
        headers: [['Location', fault.location]],
      };
    case 'token-truncated': {
      const answer = await answers.normal();
      const whole = answerText(answer);
      return { ...answer, body: whole.slice(0, whole.length / 2) };
    }
    case 'token-html':
      return { status: 200, body: htmlPage, mediaType: 'text/html' };
    case 'token-missing':
      return { status: 200, body: '{}' };
    case 'token-huge':
      return { status: 200, body: { token: 'x'.repeat(hugeTokenBytes) } };
    case 'token-gibberish':
      return { status: 200, body: { token: 'not-a-token' } };
    case 'token-expired':
      return answers.normal('expired');
    case 'token-future':
      return answers.normal('future');
    case 'token-other-audience':
      return answers.normal('other-audience');
    case 'token-other-issuer':
      return answers.normal('other-issuer');
    case 'token-bad-signature':
      return answers.normal('bad-signature');
  }
}

const wrongBySeconds = 3_600;

/** The claims of a token that is refused for this reason. */
export function spoilClaims(claims: TokenClaims, wrong: WrongToken): TokenClaims {
  const shift = { expired: -wrongBySeconds, future: wrongBySeconds }[wrong as string] ?? 0;
  return {
    ...claims,
    iat: claims.iat + shift,
    exp: claims.exp + shift,
    ...(wrong === 'other-audience' ? { aud: `other-${audience}` as typeof audience } : {}),
    ...(wrong === 'other-issuer' ? { iss: `other-${claims.iss}` } : {}),
  };
}

/** Changes a character in the middle of the signature: the last one may hold bits that do not count. */
export function spoilSignature(token: string): string {
  const at = Math.floor((token.lastIndexOf('.') + token.length) / 2);
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
}
