import { shortText } from '../../kernel/short-text.ts';
import type { Dialect, RefusalCause } from '../../protocol/dialect.ts';
import { errorBody, invalidRequestCode } from '../../protocol/error-body.ts';
import type { InvalidTokenRequest } from '../../protocol/token-request.ts';
import type { OutgoingAnswer } from '../../wire/server/http-answer.ts';
import type { EmulatorEvents, SentHeaders } from '../events.ts';

export interface RefusalContext {
  dialect: Dialect;
  events: EmulatorEvents;
  device?: string;
  path?: string;
  /** Address of the client. */
  remote?: string;
  /** More detail than the client gets. */
  detail?: string;
  /** Replaces the dialect's message with a more exact one. */
  why?: string;
  /** Headers of the token request, for the event. */
  sent?: SentHeaders;
}

/** Makes the answer to a refused request, in the wording of the dialect, and emits an event. */
export function refuseRequest(
  cause: RefusalCause,
  { dialect, events, device, path, remote, detail, why, sent }: RefusalContext,
): OutgoingAnswer {
  const { status, code, message } = dialect.refusals[cause];
  const text = why ?? message;
  const known = given({ device, path: path && shortText(path), remote, why: detail });
  events.emit({
    type: 'request-refused',
    cause,
    status,
    code,
    message: text,
    ...known,
    ...(sent && { sent }),
  });
  return { status, body: errorBody(code, text) };
}

/** Makes the answer INVALID_REQUEST to a malformed request, and emits an event. */
export function invalidRequest(
  { case: of, message, details }: InvalidTokenRequest,
  { dialect, events, device, path, remote, sent }: Omit<RefusalContext, 'why'>,
): OutgoingAnswer {
  const cause = 'invalidRequest';
  const { statuses, status: otherwise } = dialect.refusals[cause];
  const status = statuses[of] ?? otherwise;
  const code = invalidRequestCode;
  events.emit({
    type: 'request-refused',
    cause,
    status,
    code,
    message,
    ...given({ device, path: path && shortText(path), remote }),
    ...(sent && { sent }),
  });
  return { status, body: errorBody(code, message, details) };
}

/** The fields that have a value. */
function given<Fields extends Record<string, string | undefined>>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: string;
  };
}
