import type { ServerResponse } from 'node:http';
import { errorBody } from '../../protocol/error-body.ts';
import type { Admission } from '../../wire/server/admission.ts';
import { sendAnswer } from '../../wire/server/http-answer.ts';

/** What a server of ours without a dialect refuses. */
export interface PlainRefusals {
  refuse(status: number, code: string, message: string): void;
  /** The request was not admitted. */
  turnDown(refused: Admission & { ok: false }): void;
  /** The method is not GET. */
  wrongMethod(): void;
}

const statuses = {
  invalidRequest: [400, 'INVALID_REQUEST'],
  forbidden: [403, 'FORBIDDEN'],
  headersTooLarge: [431, 'HEADERS_TOO_LARGE'],
} as const;

export function plainRefusals(response: ServerResponse): PlainRefusals {
  const send = (status: number, code: string, message: string, headers: [string, string][] = []) =>
    sendAnswer(response, { status, headers, body: errorBody(code, message), hangUp: true });
  return {
    refuse: (status, code, message) => send(status, code, message),
    turnDown({ cause, why }) {
      const [status, code] = statuses[cause];
      send(status, code, why);
    },
    wrongMethod: () => send(405, 'METHOD_NOT_ALLOWED', 'Use GET', [['Allow', 'GET']]),
  };
}
