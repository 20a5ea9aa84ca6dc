import { closeCodes } from '../../protocol/close-codes.ts';
import { connectionsPerDevice } from '../../protocol/rate-limit.ts';
import { secondsText } from '../../protocol/time-text.ts';
import type { Side, WireMessage } from '../../wire/exchange.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, unknown, warn } from '../rule.ts';
import { confirmationOf, endText, type SeenStream, violationBy } from '../stream-seen.ts';
import { findStorm, growsApart, waitsText } from './backoff.ts';
import { confirmedConnections, connections, deviceRequests, interruptions } from './device-seen.ts';

/** How a device ends its streams, and what it does when one is ended. */
export const endingRules: readonly Rule[] = [
  {
    id: 'D9',
    section: 'States and transitions',
    title: 'reconnects when a stream is interrupted',
    says: 'A new token is requested for each WebSocket connection.',
    judge: judgeReturn,
  },
  {
    id: 'D13',
    section: 'Limits',
    title: 'closes its streams, and has at most ten open',
    says: 'Concurrent connections: 10 per device.',
    judge: (seen) => mostSevere([judgeNumber(seen), ...connections(seen).map(judgeClose)]),
  },
];

function judgeReturn(seen: readonly Seen[]): Finding | undefined {
  const broken = interruptions(seen);
  const [first] = broken;
  if (first === undefined) return undefined;
  const asked = deviceRequests(seen);
  const returns = broken.flatMap((stream) => {
    const next = asked.find(({ exchange }) => exchange.at >= stream.exchange.end.at);
    return next === undefined ? [] : [{ stream, next, afterMs: next.exchange.at - stream.exchange.end.at }];
  });
  const times = [...new Set(returns.map(({ next }) => next.exchange.at))];
  const evidence = returns.flatMap(({ stream, next }) => [stream, next]);
  const later = asked.filter(({ exchange }) => exchange.at >= first.exchange.end.at);
  const storm = findStorm(later.map(({ exchange }) => exchange.at));
  if (storm !== undefined)
    return fail(
      `${endText(first)}, then ${storm.attempts} attempts in ${secondsText(storm.ms, 1)}`,
      evidence,
    );
  if (growsApart(times) === false)
    return fail(
      `interrupted repeatedly, it reconnected after ${waitsText(times)}: the waits do not grow`,
      evidence,
    );
  const [back] = returns;
  if (back === undefined) return unknown(`${endText(first)}; it did not reconnect`, first);
  return pass(`${endText(first)}; it reconnected after ${secondsText(back.afterMs, 1)}`, evidence);
}

function judgeNumber(seen: readonly Seen[]): Finding | undefined {
  const confirmed = confirmedConnections(seen);
  for (const stream of confirmed) {
    const { at } = stream.exchange.upgrade;
    const open = confirmed.filter(
      ({ exchange }) => exchange.upgrade.at <= at && (exchange.end?.at ?? Number.POSITIVE_INFINITY) > at,
    );
    if (open.length > connectionsPerDevice) return fail(`${open.length} connections were open at once`, open);
  }
  return undefined;
}

/** Codes with which a side says that it cannot process what it received. */
const protests: ReadonlySet<number> = new Set([
  closeCodes.protocolError,
  closeCodes.unsupportedData,
  closeCodes.invalidData,
  closeCodes.policyViolation,
  closeCodes.messageTooBig,
  closeCodes.extensionRequired,
  closeCodes.internalError,
]);

/** Whether the last ping of the device got no pong: then nobody is left to answer a close. */
function isUnanswered({ exchange: { messages } }: SeenStream): boolean {
  const last = (from: Side, opcode: WireMessage['opcode']) =>
    messages.findLast((message) => message.from === from && message.opcode === opcode)?.at;
  const [ping, pong = 0] = [last('device', 'ping'), last('service', 'pong')];
  return ping !== undefined && ping > pong;
}

function judgeClose(stream: SeenStream): Finding | undefined {
  const { end } = stream.exchange;
  const violation = violationBy('device', end);
  if (violation !== undefined) return fail(`it ${violation}`, stream);
  if (end?.breakdown?.by === 'device')
    return unknown(`a message was refused: ${end.breakdown.message}`, stream);
  if (end?.by !== 'device' || confirmationOf(stream) === undefined) return undefined;
  if (end.code === closeCodes.normal) return pass(`it closed with ${closeCodes.normal}`, stream);
  if (end.code === closeCodes.goingAway)
    return warn(`it closed with ${end.code}, expected ${closeCodes.normal}`, stream);
  if (protests.has(end.code))
    return warn(
      `it ended the stream with ${end.code} instead of a normal close (${closeCodes.normal})`,
      stream,
    );
  if (end.code === closeCodes.noStatus)
    return fail(`it closed without a code, expected ${closeCodes.normal}`, stream);
  if (end.code === closeCodes.abnormal && isUnanswered(stream))
    return pass('it cut a connection that did not answer its ping', stream);
  if (end.code === closeCodes.abnormal) return fail('it cut the connection without a close frame', stream);
  return fail(`it closed with ${end.code}, expected ${closeCodes.normal}`, stream);
}
