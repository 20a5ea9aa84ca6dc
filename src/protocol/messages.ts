import { fillTemplates, type TemplateValues } from './dialect/templates.ts';
import type { Dialect } from './dialect.ts';
import { errorBody, isRecord, type ReadError, readError } from './error-body.ts';

/** Kind of the service's first message: the token was accepted and audio may flow. Specification: "Events". */
export const connectedKind = 'service_voice_connected';

/** What the emulated AI is doing, as reported by its status messages. */
export type ReplyState = 'listening' | 'speaking';

/** The first message after the token was accepted. */
export function writeConnected({ stream }: Dialect, values?: TemplateValues): string {
  return write(stream.connected.fields, { [stream.kindField]: connectedKind }, values);
}

/** A status message that tells the reply state. */
export function writeStatus({ stream }: Dialect, state: ReplyState, values?: TemplateValues): string {
  const { kind, kinds, stateField, fields, states } = stream.status;
  const told = stateField === '' ? {} : { [stateField]: states[state] };
  return write(fields, { [stream.kindField]: kinds[state] ?? kind, ...told }, values);
}

/** An error message: the error body of the specification, beside the kind or flat in the message. */
export function writeError(
  { stream }: Dialect,
  code: string,
  message: string,
  values?: TemplateValues,
): string {
  const { kind, shape, fields } = stream.error;
  const body = shape === 'nested' ? errorBody(code, message) : { code, message };
  return write(fields, { [stream.kindField]: kind, ...body }, values);
}

/** A message of any kind, with nothing but its kind. */
export function writeMessage({ stream }: Dialect, kind: string): string {
  return write({}, { [stream.kindField]: kind });
}

/** A message that the dialect gives as it is, its templates filled in. */
export function writeGiven(message: Record<string, unknown>, values: TemplateValues): string {
  return JSON.stringify(fillTemplates(message, values));
}

/** What the message is stands first, and no further field of the dialect can take its place. */
function write(
  fields: Record<string, unknown>,
  own: Record<string, unknown>,
  values?: TemplateValues,
): string {
  const filled = values === undefined ? fields : (fillTemplates(fields, values) as typeof fields);
  return JSON.stringify({ ...own, ...filled, ...own });
}

/** A text message of the service, read tolerantly. */
export interface ServiceMessage {
  /** `malformed`: not JSON. `other`: JSON of a kind that is neither of the rest. */
  category: 'connected' | 'status' | 'error' | 'other' | 'malformed';
  /** The kind that the message names, if any. */
  kind: string | undefined;
  /** The parsed JSON; for `malformed`, the text itself. */
  body: unknown;
  /** Set for `error`. */
  error?: ReadError;
  /** The message as received. */
  text: string;
}

/** Fields under which services name the kind of a message; the specification shows none. */
const kindFields = ['type', 'kind', 'event', 'name'] as const;

/** Reads any text message of a service. Never throws: unknown kinds and shapes come back as `other`. */
export function readServiceMessage(text: string): ServiceMessage {
  return { ...classify(text), text };
}

function classify(text: string): Omit<ServiceMessage, 'text'> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { category: 'malformed', kind: undefined, body: text };
  }
  if (!isRecord(body)) return { category: 'other', kind: undefined, body };
  const named = kindFields.map((field) => body[field]).filter((value) => typeof value === 'string');
  if (Object.values(body).includes(connectedKind))
    return { category: 'connected', kind: connectedKind, body };
  const kind = named[0];
  if (isErrorMessage(kind, body)) return { category: 'error', kind, body, error: readError(body) };
  return { category: /status|state/i.test(kind ?? '') ? 'status' : 'other', kind, body };
}

/** Words by which services say that the AI was interrupted, and that what it still says is void; the specification shows none. */
const interruptionWords =
  /interrupt|barge.?in|(clear|flush).*(audio|buffer)|(audio|buffer|playback).*(clear|flush)/i;

/** Whether a message says that audio which was sent and not heard yet is void: in its kind, or in one of its texts. */
export function isInterruption({ category, kind, body }: ServiceMessage): boolean {
  if (category === 'error' || category === 'connected' || !isRecord(body)) return false;
  const states = ['status', 'state', 'action', 'reason'].map((field) => body[field]);
  return [kind, ...states].some((text) => typeof text === 'string' && interruptionWords.test(text));
}

function isErrorMessage(kind: string | undefined, body: Record<string, unknown>): boolean {
  return /error/i.test(kind ?? '') || isRecord(body.error) || typeof body.error === 'string';
}
