import { tokenLifetimeSeconds } from '../protocol/claims.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import { readServiceMessage, type ServiceMessage } from '../protocol/messages.ts';
import { connectionsPerDevice } from '../protocol/rate-limit.ts';
import type {
  PresentedToken,
  Side,
  StreamEnd,
  StreamExchange,
  TokenFacts,
  WireMessage,
} from '../wire/exchange.ts';
import { memoise } from './memo.ts';
import type { Seen } from './rule.ts';
import { grantsSeen, type SeenGrant } from './token-seen.ts';

export type SeenStream = Seen & { exchange: StreamExchange };

/** Connections to the voice stream, opened or not. */
export function streamsSeen(seen: readonly Seen[]): SeenStream[] {
  return seen.filter((one): one is SeenStream => one.exchange.kind === 'stream');
}

export function isOpened({ exchange }: SeenStream): boolean {
  return exchange.upgrade.answer?.status === 101;
}

export type FirstMessage = WireMessage & PresentedToken;

/** The message with the token that was presented on a stream, if one was. */
export function tokenMessage({ exchange }: SeenStream): FirstMessage | undefined {
  return exchange.messages.find(
    (message): message is FirstMessage => 'token' in message && message.from === 'device',
  );
}

/** Whether it is text or audio. */
export function isData(message: WireMessage): boolean {
  return message.opcode === 'text' || message.opcode === 'binary';
}

/** Messages of the service, without pings. */
export function serviceMessages({ exchange }: SeenStream): WireMessage[] {
  return exchange.messages.filter((message) => message.from === 'service' && isData(message));
}

/** Messages of the device, without pings. */
export function deviceMessages({ exchange }: SeenStream): WireMessage[] {
  return exchange.messages.filter((message) => message.from === 'device' && isData(message));
}

/** Audio of one side. */
export function audioOf({ exchange }: SeenStream, from: WireMessage['from']) {
  return exchange.messages.filter(
    (message): message is WireMessage & { data: Buffer } => message.from === from && 'data' in message,
  );
}

/** A text message of the service, read; undefined for any other message. */
export const readTextMessage = memoise((message: WireMessage): ServiceMessage | undefined =>
  message.from === 'service' && 'text' in message ? readServiceMessage(message.text) : undefined,
);

/** Whether a message confirms a stream. */
export function isConfirmation(message: WireMessage): boolean {
  return readTextMessage(message)?.category === 'connected';
}

/** The confirmation of a stream, if it came. */
export function confirmationOf(stream: SeenStream): WireMessage | undefined {
  return serviceMessages(stream).find(isConfirmation);
}

/** A granted token that was presented as the specification says: alone, as text, for the first time. */
export interface Presentation {
  stream: SeenStream;
  grant: SeenGrant;
  message: FirstMessage;
  /** Time since the request for the token, milliseconds. */
  ageMs: number;
  /** What the service sent afterwards. */
  answers: readonly WireMessage[];
  /** The confirmation, if one arrived. */
  confirmed: WireMessage | undefined;
  /** Other streams of the device that were confirmed and open. */
  openBefore: readonly SeenStream[];
  /** How many of other devices. */
  openElsewhere: number;
}

/** Each stream on which a token was presented, with the message that holds it. */
function shownOn(seen: readonly Seen[]): { stream: SeenStream; message: FirstMessage }[] {
  return streamsSeen(seen).flatMap((stream) => {
    const message = tokenMessage(stream);
    return message === undefined ? [] : [{ stream, message }];
  });
}

/** When a stream ended; never, if it is open. */
export function endedAt({ exchange: { end } }: SeenStream): number {
  return end?.at ?? Number.POSITIVE_INFINITY;
}

/** Every presentation of a token whose grant was seen, in the order of time. A stream is open whether its grant was seen or not. */
export function presentations(seen: readonly Seen[]): Presentation[] {
  const byHash = new Map(grantsSeen(seen).map((grant) => [grant.exchange.granted.hash, grant]));
  const shown = new Set<string>();
  const found: Presentation[] = [];
  const opened: { stream: SeenStream; device: unknown }[] = [];
  for (const { stream, message } of shownOn(seen).sort((a, b) => a.message.at - b.message.at)) {
    const grant = byHash.get(message.token.hash);
    const isFirst = !shown.has(identityOf(message.token));
    shown.add(identityOf(message.token));
    const [sent] = deviceMessages(stream);
    const isAlone = message.bytes === message.token.bytes && message.opcode === 'text';
    if (!isFirst || sent !== message || !isAlone) continue;
    const answers = serviceMessages(stream).filter(({ at }) => at >= message.at);
    const confirmed = answers.find(isConfirmation);
    const device = message.token.claims?.sub;
    const own = opened.filter((one) => one.device === device).map((one) => one.stream);
    const openBefore = own.filter((one) => endedAt(one) > message.at);
    // One that ends at that moment counts: the device itself is never full because of it.
    const others = opened.filter((one) => one.device !== device && endedAt(one.stream) >= message.at);
    if (confirmed !== undefined) opened.push({ stream, device });
    if (grant === undefined) continue;
    const ageMs = message.at - grant.exchange.at;
    const openElsewhere = others.length;
    found.push({ stream, grant, message, ageMs, answers, confirmed, openBefore, openElsewhere });
  }
  return found;
}

/** After this long a device knows that it is not confirmed. */
const longWaitMs = 2_000;

/** Whether it is known what the service decided about the token: an answer may still be under way. */
export function isDecided({ stream: { exchange }, message, confirmed }: Presentation): boolean {
  const { end } = exchange;
  if (confirmed !== undefined || isServiceEnd(end)) return true;
  return end !== undefined && end.at - message.at >= longWaitMs;
}

/** A token that was presented again. */
export interface SecondUse {
  /** The stream that it opened, and the one on which it was presented again. */
  first: SeenStream;
  stream: SeenStream;
  isFirstOpen: boolean;
  isConfirmed: boolean;
}

const validMs = tokenLifetimeSeconds * 1000;

/** Every second use of a token within its life, in the order of time. */
export function secondUses(seen: readonly Seen[]): SecondUse[] {
  const all = shownOn(seen);
  return presentations(seen)
    .filter(({ confirmed }) => confirmed !== undefined)
    .flatMap(({ stream: first, message: { at, token }, grant }) =>
      all
        .filter(({ message }) => message.token.hash === token.hash && message.opcode === 'text')
        .filter(({ message }) => message.at > at && message.at - grant.exchange.at < validMs)
        .map(({ stream, message }) => ({
          first,
          stream,
          isFirstOpen: endedAt(first) > message.at,
          isConfirmed: serviceMessages(stream).some((one) => one.at >= message.at && isConfirmation(one)),
        })),
    );
}

/**
 * How a service can recognise a token. Without `jti`, two tokens of the same second have the same claims, and only a randomised
 * signature differs: a service that takes the second for the first is not to blame.
 */
function identityOf({ claims, hash }: TokenFacts): string {
  return claims === undefined || 'jti' in claims ? hash : JSON.stringify(claims);
}

/** The device that a token stands for. */
export function subjectOf({ exchange }: SeenGrant): unknown {
  return exchange.granted.claims?.sub;
}

/** No service that is close to the specification refuses a token this young because of its age. */
export const freshMs = 30_000;
/** With more streams than this open, a refusal may be because of their number. */
const fewStreams = 1;

/** Tokens that were presented immediately, on a device with at most one other stream. */
export function freshPresentations(seen: readonly Seen[]): Presentation[] {
  return presentations(seen).filter(
    ({ ageMs, openBefore, openElsewhere, stream }) =>
      ageMs < freshMs &&
      openBefore.length <= fewStreams &&
      openElsewhere < connectionsPerDevice &&
      stream.provoked !== true,
  );
}

/** What ends this soon after something ends because of it; a message of the other side may have been under way. */
export const soonMs = 1_000;

/** Whether the service ended the stream, or the device because of what the service sent. */
export function isServiceEnd(end: StreamEnd | undefined): boolean {
  return end?.by === 'service' || end?.breakdown?.by === 'service';
}

/**
 * How a side violated the WebSocket protocol, if that ended the stream. How long a message may be, and in how many pieces it
 * comes, is a choice of the other side.
 */
export function violationBy(side: Side, end: StreamEnd | undefined): string | undefined {
  const isChoice = end?.code === closeCodes.messageTooBig || end?.code === closeCodes.policyViolation;
  if (end?.breakdown?.by !== side || end.breakdown.code !== 'protocol-violation' || isChoice)
    return undefined;
  return `violated the WebSocket protocol: ${end.breakdown.message}`;
}

/** How an unconfirmed stream ended. */
export function endText({ exchange: { upgrade, end } }: SeenStream): string {
  if (upgrade.answer !== undefined && upgrade.answer.status !== 101)
    return `the upgrade was answered with ${upgrade.answer.status}`;
  if (upgrade.breakdown !== undefined) return upgrade.breakdown.message;
  if (end?.breakdown !== undefined) return end.breakdown.message;
  if (end === undefined || end.by === 'device') return 'no confirmation arrived';
  const reason = end.reason === '' ? '' : ` ${JSON.stringify(end.reason)}`;
  return end.code === 1006 ? 'the connection was cut' : `closed with ${end.code}${reason}`;
}
