import { fillTemplates, type TemplateValues } from './dialect/templates.ts';
import type { Dialect } from './dialect.ts';
import { errorShapes } from './error-body.ts';
import { connectedKind } from './read-message.ts';

export {
  connectedKind,
  createMessageReader,
  isConfirmingText,
  isInterruption,
  isOfKind,
  readServiceMessage,
  type ServiceMessage,
} from './read-message.ts';

/** What the emulated AI is doing, as reported by its status messages. */
export type ReplyState = 'listening' | 'speaking';

/** The first message after the token was accepted. */
export function writeConnected({ stream }: Dialect, values?: TemplateValues): string {
  return write(stream.connected.fields, { [stream.kindField]: connectedKind }, values);
}

/** The kind of the status message that reports a state. */
export function statusKind({ status: { kind, kinds } }: Dialect['stream'], state: ReplyState): string {
  return kinds[state] ?? kind;
}

/** A status message that reports the reply state. */
export function writeStatus({ stream }: Dialect, state: ReplyState, values?: TemplateValues): string {
  const { stateField, fields, states } = stream.status;
  const stateEntry = stateField === '' ? {} : { [stateField]: states[state] };
  return write(fields, { [stream.kindField]: statusKind(stream, state), ...stateEntry }, values);
}

/** An error message: the error body of the specification, beside the kind or flat in the message. */
export function writeError(
  { stream }: Dialect,
  code: string,
  message: string,
  values?: TemplateValues,
): string {
  const { kind, shape, fields } = stream.error;
  return write(fields, { [stream.kindField]: kind, ...errorShapes[shape](code, message) }, values);
}

/** A message of any kind, with nothing but its kind. */
export function writeMessage({ stream }: Dialect, kind: string): string {
  return write({}, { [stream.kindField]: kind });
}

/** A message from the dialect, with its templates filled in. */
export function writeDialectMessage(message: Record<string, unknown>, values: TemplateValues): string {
  return JSON.stringify(fillTemplates(message, values));
}

/** The own fields of a message come first, and no further field of the dialect can replace them. */
function write(
  fields: Record<string, unknown>,
  own: Record<string, unknown>,
  values?: TemplateValues,
): string {
  const filled = values === undefined ? fields : (fillTemplates(fields, values) as typeof fields);
  return JSON.stringify({ ...own, ...filled, ...own });
}
