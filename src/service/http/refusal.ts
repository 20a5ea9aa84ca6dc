import type { ServerResponse } from 'node:http';
import type { Dialect, RefusalCause } from '../../protocol/dialect.ts';
import { type ErrorDetails, errorBody, invalidRequestCode } from '../../protocol/error-body.ts';
import type { InvalidTokenRequest } from '../../protocol/token-request.ts';
import type { Admission } from '../../wire/server/admission.ts';
import { type OutgoingAnswer, sendAnswer } from '../../wire/server/http-answer.ts';
import { eventPath } from '../event-path.ts';
import type { EmulatorEvents, SentHeaders } from '../events.ts';

export interface RefusalContext {
  dialect: Dialect;
  events: EmulatorEvents;
  device?: string;
  path?: string;
  /** Address of the device. */
  remote?: string;
  /** More detail than the device gets. */
  detail?: string;
  /** Replaces the dialect's message with a more exact one. */
  why?: string;
  /** Headers of the token request, for the event. */
  sent?: SentHeaders;
}

/** Makes the answer to a refused request, in the wording of the dialect, and emits an event. */
export function refuseRequest(cause: RefusalCause, context: RefusalContext): OutgoingAnswer {
  const { status, code, message } = context.dialect.refusals[cause];
  return refuse(cause, { status, code, message: context.why ?? message }, context);
}

/** Makes the answer INVALID_REQUEST to a malformed request, and emits an event. */
export function invalidRequest(
  { case: of, message, details }: InvalidTokenRequest,
  context: Omit<RefusalContext, 'why' | 'detail'>,
): OutgoingAnswer {
  const { statuses, status } = context.dialect.refusals.invalidRequest;
  const wording = { status: statuses[of] ?? status, code: invalidRequestCode, message, details };
  return refuse('invalidRequest', wording, context);
}

interface RefusalWording {
  status: number;
  code: string;
  message: string;
  details?: ErrorDetails | undefined;
}

function refuse(
  cause: RefusalCause | 'invalidRequest',
  { status, code, message, details }: RefusalWording,
  { events, device, path, remote, detail, sent }: Omit<RefusalContext, 'dialect' | 'why'>,
): OutgoingAnswer {
  const known = definedFields({
    device,
    path: path && eventPath(path, events),
    remote,
    why: detail,
  });
  events.emit({ type: 'request-refused', cause, status, code, message, ...known, ...(sent && { sent }) });
  return { status, body: errorBody(code, message, details) };
}

/** The fields that have a value. */
function definedFields<Fields extends Record<string, string | undefined>>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: string;
  };
}

/** What a server of ours without a dialect refuses. */
interface PlainRefusals {
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
