import type { IncomingMessage } from 'node:http';
import type { Admission } from '../../wire/server/admission.ts';
import type { HttpAnswer } from '../../wire/server/http-answer.ts';
import { invalidRequest, type RefusalContext, refusal } from './refusal.ts';

/** The answer to a request that is not admitted. */
export function turnAway({ cause, why }: Admission & { ok: false }, about: RefusalContext): HttpAnswer {
  if (cause === 'invalidRequest') return invalidRequest({ case: 'badHttp', message: why }, about);
  return refusal(cause, { ...about, why });
}

/** The answer to a request that Node's parser refuses, by the code of its error. */
export function malformed(
  code: string | undefined,
  options: Pick<RefusalContext, 'dialect' | 'events'>,
): HttpAnswer {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusal('requestTimeout', options);
  if (code === 'HPE_HEADER_OVERFLOW') return refusal('headersTooLarge', options);
  return invalidRequest({ case: 'badHttp', message: 'The request is not valid HTTP' }, options);
}

/** The address of the client. */
export function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}
