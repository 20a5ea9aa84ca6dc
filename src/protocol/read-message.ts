import { isRecord, type ReadError, readError, reportsError } from './error-body.ts';

/** Kind of the service's first message: the token was accepted and audio may flow. Specification: "Events". */
export const connectedKind = 'service_voice_connected';

/** Kind of an error that names none: the specification gives errors a shape. Specification: "Error body". */
const errorKind = 'error';

/** A text message of the service, read tolerantly. */
export interface ServiceMessage {
  /** `malformed`: not JSON. `other`: JSON of any other kind. */
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

/**
 * Reads any text message of a service. Never throws: unknown kinds and shapes come back as `other`. `kindField`: the field
 * that names the kind, if it is known.
 */
export function readServiceMessage(text: string, kindField?: string): ServiceMessage {
  return { ...classify(text, kindField), text };
}

/** Reads the text messages of one stream in their order: the confirmation shows which field names the kind. */
export function createMessageReader(): (text: string) => ServiceMessage {
  let kindField: string | undefined;
  return (text) => {
    const message = readServiceMessage(text, kindField);
    if (message.category === 'connected') kindField ??= unusualKindField(message.body);
    return message;
  };
}

/** The field that holds the kind of a confirmation, if none of the usual ones holds a kind. */
function unusualKindField(confirmation: unknown): string | undefined {
  const body = confirmation as Record<string, unknown>;
  if (kindFields.some((field) => typeof body[field] === 'string')) return undefined;
  return Object.entries(body).find(([, value]) => value === connectedKind)?.[0];
}

function classify(text: string, kindField: string | undefined): Omit<ServiceMessage, 'text'> {
  try {
    return readServiceBody(JSON.parse(text), kindField);
  } catch {
    return { category: 'malformed', kind: undefined, body: text };
  }
}

/** Whether a text is the message that confirms a stream. */
export function isConfirmingText(text: string): boolean {
  return readServiceMessage(text).category === 'connected';
}

/** The same for JSON that is already parsed. */
export function readServiceBody(body: unknown, kindField?: string): Omit<ServiceMessage, 'text'> {
  if (!isRecord(body)) return { category: 'other', kind: undefined, body };
  const fields = kindField === undefined ? kindFields : [kindField, ...kindFields];
  const named = fields.map((field) => body[field]).filter((value) => typeof value === 'string');
  if (Object.values(body).includes(connectedKind))
    return { category: 'connected', kind: connectedKind, body };
  const error = named.find((name) => /error/i.test(name));
  if (error !== undefined || reportsError(body.error))
    return { category: 'error', kind: error ?? named[0], body, error: readError(body) };
  const status = named.find((name) => /status|state/i.test(name));
  return { category: status === undefined ? 'other' : 'status', kind: status ?? named[0], body };
}

/** The kind of a message, if only the confirmation of its stream shows which field names it. */
export function unusualKind({ kind, body }: Pick<ServiceMessage, 'kind' | 'body'>): { kind?: string } {
  return kind === undefined || kind === readServiceBody(body).kind ? {} : { kind };
}

/** Reads a message that was sent, with the kind that its stream showed, if that is unusual. */
export function readSentMessage({
  body,
  kind,
}: {
  body: unknown;
  kind?: string;
}): Omit<ServiceMessage, 'text'> {
  const message = readServiceBody(body);
  return kind === undefined ? message : { ...message, kind };
}

/** Whether a message is of a kind that a user names. What has the shape of an error is an `error`, whatever its own kind. */
export function isOfKind(
  { category, kind }: Pick<ServiceMessage, 'category' | 'kind'>,
  name: string,
): boolean {
  return kind === name || (name === errorKind && category === 'error');
}

/** The word that labels a message in a picture: the state that it reports, or else its kind. */
export function wordOfMessage(message: {
  category: string;
  kind: string | undefined;
  body: unknown;
}): string {
  const { category, kind, body } = message;
  const state = isRecord(body) ? body.status : undefined;
  return category === 'status' && typeof state === 'string' ? state : (kind ?? category);
}

/** Whether a message says that audio that was sent but not heard yet is void: in its kind, or in one of its texts. */
export function isInterruption({ category, kind, body }: Omit<ServiceMessage, 'text'>): boolean {
  if (category === 'error' || category === 'connected' || !isRecord(body)) return false;
  const states = ['status', 'state', 'action', 'reason'].map((field) => body[field]);
  return [kind, ...states].some((text) => typeof text === 'string' && saysVoid(text));
}

/**
 * Words by which services say that the AI was interrupted, and that what it still says is void; the specification shows
 * none. Each pattern reads the text once, however often its words occur in it.
 */
function saysVoid(text: string): boolean {
  if (/interrupt|barge.?in/i.test(text)) return true;
  return /clear|flush/i.test(text) && /audio|buffer|playback/i.test(text);
}
