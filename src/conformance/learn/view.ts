import { closeCodes } from '../../protocol/close-codes.ts';
import { isRecord, readError, reportsError } from '../../protocol/error-body.ts';
import { connectedKind, type ServiceMessage } from '../../protocol/messages.ts';
import { isNestedWithin, ownValue, readableLevels } from '../../protocol/parse-json.ts';
import { memoise } from '../../rules/memo.ts';
import type { Seen } from '../../rules/rule.ts';
import {
  confirmationOf,
  isOpened,
  readTextMessage,
  type SeenStream,
  serviceMessages,
  streamsSeen,
  tokenMessage,
} from '../../rules/stream-seen.ts';
import { grantsSeen, isPage, type SeenAnswer, type SeenGrant } from '../../rules/token-seen.ts';
import type { WireMessage } from '../../wire/exchange.ts';

/** The exchanges of a run, by their names. */
export interface LearnView {
  /** The answer to a request, or to its second try after trouble; undefined if there is none, or if it is a page from something else. */
  answer(id: string): SeenAnswer | undefined;
  /** A stream that was opened. */
  stream(id: string): SeenStream | undefined;
  /** A stream whose upgrade was refused. */
  refusedUpgrade(id: string): SeenStream | undefined;
  /** Requests that granted a token, in the order of time. */
  readonly grants: readonly SeenGrant[];
  readonly streams: readonly SeenStream[];
}

export function createView(seen: readonly Seen[]): LearnView {
  const byId = new Map(seen.map((one) => [one.id, one]));
  const opened = streamsSeen(seen).filter(isOpened);
  return {
    answer: (id) => answerOf(byId.get(`${id}-retry`)) ?? answerOf(byId.get(id)),
    stream: (id) => opened.find((one) => one.id === id),
    refusedUpgrade: (id) =>
      streamsSeen(seen).find(
        (one) => one.id === id && !isOpened(one) && one.exchange.upgrade.answer !== undefined,
      ),
    grants: grantsSeen(seen),
    streams: opened,
  };
}

function answerOf(one: Seen | undefined): SeenAnswer | undefined {
  if (one?.exchange.kind !== 'token' || one.exchange.answer === undefined) return undefined;
  return isPage(one.exchange.answer) ? undefined : (one as SeenAnswer);
}

/** A text message of the service, with its time. */
export interface TimedServiceMessage extends ServiceMessage {
  at: number;
}

/** The text messages of the service, in their order. */
export const textsOf = memoise((stream: SeenStream): readonly TimedServiceMessage[] =>
  serviceMessages(stream).flatMap((message) => {
    const read = readTextMessage(message);
    return read === undefined ? [] : [{ ...readable(read), at: message.at }];
  }),
);

/** What is nested deeper than any message counts as text: it can be neither compared nor quoted. */
function readable(read: ServiceMessage): ServiceMessage {
  if (!isNestedWithin(read.body, readableLevels))
    return { category: 'malformed', kind: undefined, body: read.text, text: read.text };
  return { ...read, ...flatError(read) };
}

/** A code and a message beside the kind are an error, whatever the kind is called, unless both are empty. */
function flatError({ category, body }: ServiceMessage): Partial<ServiceMessage> {
  const isFlat = isRecord(body) && typeof body.code === 'string' && typeof body.message === 'string';
  const says = isFlat && reportsError({ code: body.code, message: body.message });
  return says && category !== 'connected' ? { category: 'error', error: readError(body) } : {};
}

/** When the device first presented a token, or something in its place. */
export function presentedAt({ exchange }: SeenStream): number | undefined {
  return exchange.messages.find(isShown)?.at;
}

/** How long after the request for its token a stream presented it; undefined if the token was not granted in this run. */
export function shownAfterMs({ grants }: LearnView, stream: SeenStream): number | undefined {
  const shown = tokenMessage(stream);
  const grant = grants.find(({ exchange }) => exchange.granted.hash === shown?.token.hash);
  return shown && grant && shown.at - grant.exchange.at;
}

function isShown(message: WireMessage): boolean {
  return message.from === 'device' && ('token' in message || 'text' in message);
}

/** When the stream was confirmed. */
export function confirmedAt(stream: SeenStream): number | undefined {
  return confirmationOf(stream)?.at;
}

/** How the service ended a stream, and the error that was its last message. */
export interface ServiceClose {
  close: number;
  reason: string;
  at: number;
  error: TimedServiceMessage | undefined;
}

/** Undefined if the service did not close the stream: a close of the device’s, whatever its reason, has the device’s code. */
export function serviceClose(stream: SeenStream | undefined): ServiceClose | undefined {
  const end = stream?.exchange.end;
  if (stream === undefined || end === undefined || end.by !== 'service') return undefined;
  const last = textsOf(stream).at(-1);
  const error = last?.category === 'error' ? last : undefined;
  return { close: end.code, reason: end.reason, at: end.at, error };
}

/** Whether the service kept the stream open until the run closed it; one that broke or was cut shows nothing of what follows. */
export function wasKeptOpen({ exchange: { end } }: SeenStream): boolean {
  return end?.by === 'device' && end.code === closeCodes.normal && end.breakdown === undefined;
}

export function isConnected({ category }: TimedServiceMessage): boolean {
  return category === 'connected';
}

/** The streams that were confirmed. */
export function confirmedStreams(view: LearnView): SeenStream[] {
  return view.streams.filter((stream) => confirmedAt(stream) !== undefined);
}

/** The field by which the service names the kind of a message. */
export const kindFieldOf = memoise((view: LearnView): string | undefined => {
  for (const stream of confirmedStreams(view)) {
    const body = textsOf(stream).find(isConnected)?.body;
    const field = isRecord(body)
      ? Object.keys(body).find((name) => ownValue(body, name) === connectedKind)
      : undefined;
    if (field !== undefined) return field;
  }
  return undefined;
});
