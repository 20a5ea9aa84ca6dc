import { closeCodes } from '../../protocol/close-codes.ts';
import { connectionsPerDevice } from '../../protocol/rate-limit.ts';
import { secondsText } from '../../protocol/time-text.ts';
import type { Side, WireMessage } from '../../wire/exchange.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, unknown, warn } from '../rule.ts';
import { confirmationOf, endText, type SeenStream, tokenMessage, violationBy } from '../stream-seen.ts';
import { findStorm, growsApart, restfulMs, splitRuns, waitsText } from './backoff.ts';
import {
  confirmedConnections,
  connections,
  deviceRequests,
  type Interruption,
  interruptions,
} from './device-seen.ts';

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
  const runs = splitRuns(interruptions(seen), isAfresh);
  return mostSevere(
    runs.map((run, index) => judgeRun(run, { seen, until: runs[index + 1]?.[0].exchange.end.at })),
  );
}

/** Whether a stream lasted so long that its end has nothing to do with earlier ones. */
function isAfresh(stream: Interruption, before: Interruption): boolean {
  return hasLasted(stream) && stream.exchange.end.at - before.exchange.end.at >= restfulMs;
}

function hasLasted({ exchange: { upgrade, end } }: Interruption): boolean {
  return end.at - upgrade.at >= restfulMs;
}

type Run = readonly [first: Interruption, ...Interruption[]];

/** Interruptions that follow each other, and what the device did until the next ones. */
function judgeRun(
  run: Run,
  { seen, until }: { seen: readonly Seen[]; until: number | undefined },
): Finding | undefined {
  const [first] = run;
  const asked = deviceRequests(seen);
  const returns = run.flatMap((stream) => {
    const next = asked.find(({ exchange }) => exchange.at >= stream.exchange.end.at);
    return next === undefined ? [] : [{ stream, next, afterMs: next.exchange.at - stream.exchange.end.at }];
  });
  const times = [...new Set(returns.map(({ next }) => next.exchange.at))];
  const evidence = returns.flatMap(({ stream, next }) => [stream, next]);
  const together = run.filter(({ exchange }) => exchange.upgrade.at <= first.exchange.end.at).length;
  const storm = findStorm(vainAttempts(run, seen, until), together);
  if (storm !== undefined)
    return fail(
      `${endText(first)}, then ${storm.attempts} attempts in ${secondsText(storm.ms, 1)}`,
      evidence,
    );
  // Streams that end together are opened again each on its own: the waits between all of them show nothing.
  if (together === 1 && growsApart(times) === false)
    return fail(
      `interrupted repeatedly, it reconnected after ${waitsText(times)}: the waits do not grow`,
      evidence,
    );
  const [back] = returns;
  if (back === undefined) return unknown(`${endText(first)}; it did not reconnect`, first);
  return pass(`${endText(first)}; it reconnected after ${secondsText(back.afterMs, 1)}`, evidence);
}

/** When a device requested a token after an interruption and before a confirmation, without a stream that lasted. */
function vainAttempts(run: Run, seen: readonly Seen[], until = Number.POSITIVE_INFINITY): number[] {
  const confirmed = confirmedConnections(seen);
  const broken = new Set<SeenStream>(interruptions(seen).filter((stream) => !hasLasted(stream)));
  const good = new Set(
    confirmed.filter((stream) => !broken.has(stream)).map((stream) => tokenMessage(stream)?.token.hash),
  );
  return deviceRequests(seen)
    .filter(({ exchange: { at, granted } }) => {
      const lost = run.findLast(({ exchange }) => exchange.end.at <= at);
      if (lost === undefined || at >= until || (granted !== undefined && good.has(granted.hash)))
        return false;
      const { end } = lost.exchange;
      return !confirmed.some((stream) => {
        const backAt = confirmationOf(stream)?.at ?? Number.POSITIVE_INFINITY;
        return backAt > end.at && backAt <= at;
      });
    })
    .map(({ exchange }) => exchange.at);
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
