import { closeCodes } from '../../protocol/close-codes.ts';
import { connectionsPerDevice, rateLimitWindowMs } from '../../protocol/rate-limit.ts';
import { secondsText } from '../../protocol/time-text.ts';
import type { Side, WireMessage } from '../../wire/exchange.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, unknown, warn } from '../rule.ts';
import {
  confirmationOf,
  endedAt,
  endText,
  type SeenStream,
  tokenMessage,
  violationBy,
} from '../stream-seen.ts';
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
  const confirmed = confirmedConnections(seen);
  const runs = splitRuns(interruptions(seen), (stream, before) => isAfresh(stream, before, confirmed));
  return mostSevere(
    runs.map((run, index) => judgeRun(run, { seen, until: runs[index + 1]?.[0].exchange.end.at })),
  );
}

/** Whether an interruption has nothing to do with the one before it: a stream lasted in between, or nobody connected for long. */
function isAfresh(stream: Interruption, before: Interruption, confirmed: readonly SeenStream[]): boolean {
  const since = before.exchange.end.at;
  if (hasLasted(stream) && stream.exchange.end.at - since >= restfulMs) return true;
  const { at } = stream.exchange.upgrade;
  if (at - since >= rateLimitWindowMs) return true;
  return confirmed.some(
    (other) => other.exchange.upgrade.at >= since && endedAt(other) <= at && hasLasted(other),
  );
}

function hasLasted(stream: SeenStream): boolean {
  return endedAt(stream) - stream.exchange.upgrade.at >= restfulMs;
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
  const evidence = returns.flatMap(({ stream, next }) => [stream, next]);
  const together = run.filter(({ exchange }) => exchange.upgrade.at <= first.exchange.end.at).length;
  const storm = findStorm(vainAttempts(run, seen, until), together);
  if (storm !== undefined)
    return fail(
      `${endText(first)}, then ${storm.attempts} attempts in ${secondsText(storm.ms, 1)}`,
      evidence,
    );
  const waves = firstOfWaves(returns.map(({ stream, next }) => ({ stream, at: next.exchange.at })));
  if (growsApart(waves) === false)
    return fail(
      `interrupted repeatedly, it reconnected after ${waitsText(waves)}: the waits do not grow`,
      evidence,
    );
  const [back] = returns;
  if (back === undefined) return unknown(`${endText(first)}; it did not reconnect`, first);
  return pass(`${endText(first)}; it reconnected after ${secondsText(back.afterMs, 1)}`, evidence);
}

/**
 * When a device first came back after each wave of interruptions: streams that were open together are opened again each on its
 * own, and the waits between them show nothing.
 */
function firstOfWaves(returns: readonly { stream: Interruption; at: number }[]): number[] {
  const waves = splitRuns(
    returns,
    ({ stream }, before) => stream.exchange.upgrade.at > before.stream.exchange.end.at,
  );
  return [...new Set(waves.map(([first]) => first.at))];
}

/** When a device requested a token after an interruption and before a confirmation, without a stream that lasted. */
function vainAttempts(run: Run, seen: readonly Seen[], until = Number.POSITIVE_INFINITY): number[] {
  const confirmed = confirmedConnections(seen);
  const broken = new Set<SeenStream>(interruptions(seen).filter((stream) => !hasLasted(stream)));
  const good = new Set(
    confirmed.filter((stream) => !broken.has(stream)).map((stream) => tokenMessage(stream)?.token.hash),
  );
  const isUndecided = undecidedTokens(seen);
  return deviceRequests(seen)
    .filter(({ exchange: { at, granted } }) => {
      const lost = run.findLast(({ exchange }) => exchange.end.at <= at);
      if (lost === undefined || at >= until) return false;
      if (granted !== undefined && (good.has(granted.hash) || isUndecided(granted.hash, at))) return false;
      const { end } = lost.exchange;
      return !confirmed.some((stream) => {
        const backAt = confirmationOf(stream)?.at ?? Number.POSITIVE_INFINITY;
        return backAt > end.at && backAt <= at;
      });
    })
    .map(({ exchange }) => exchange.at);
}

/** After this long, a token whose stream was not confirmed was requested in vain. */
const undecidedMs = 2_000;

/** Whether the stream of a token, requested at `at`, may still be confirmed: a proxy judges at any time. */
function undecidedTokens(seen: readonly Seen[]): (hash: string, at: number) => boolean {
  const newestAt = Math.max(
    ...seen.map(({ exchange }) => (exchange.kind === 'token' ? exchange.at : exchange.upgrade.at)),
  );
  const hashOf = (stream: SeenStream) => tokenMessage(stream)?.token.hash;
  const opened = connections(seen);
  const open = new Set(opened.filter(({ exchange: { end } }) => end === undefined).map(hashOf));
  const ended = new Set(opened.filter(({ exchange: { end } }) => end !== undefined).map(hashOf));
  const confirmed = new Set(confirmedConnections(seen).map(hashOf));
  const backAt = deviceRequests(seen).findLast(({ exchange }) => confirmed.has(exchange.granted?.hash))
    ?.exchange.at;
  // A device that is back with a later token has no use for an earlier one that it has not presented.
  const isPassedOver = (hash: string, at: number) => backAt !== undefined && at < backAt && !open.has(hash);
  return (hash, at) => newestAt - at < undecidedMs && !ended.has(hash) && !isPassedOver(hash, at);
}

function judgeNumber(seen: readonly Seen[]): Finding | undefined {
  const confirmed = confirmedConnections(seen);
  for (const stream of confirmed) {
    const { at } = stream.exchange.upgrade;
    const open = confirmed.filter((other) => other.exchange.upgrade.at <= at && endedAt(other) > at);
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
