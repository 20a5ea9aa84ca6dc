import { closeCodes } from '../../../protocol/close-codes.ts';
import type { FaultInput } from '../../../protocol/faults.ts';
import { secondsText } from '../../../protocol/time-text.ts';
import { growsApart, waitsText } from '../../../rules/device/backoff.ts';
import {
  answeredAt,
  connections,
  deviceRequests,
  interruptions,
  shownTokens,
  tokenName,
} from '../../../rules/device/device-seen.ts';
import { type Finding, fail, pass, unknown } from '../../../rules/rule.ts';
import { isGranted } from '../../../rules/token-seen.ts';
import { judgeBy, judgeComeback, upgradesRefusedAt } from '../judging.ts';
import {
  isAcceptedAfterRefusal,
  isBack,
  isOpen,
  isPast,
  isStreaming,
  isStuck,
  sentMs,
  streamsConfirmed,
} from '../moments.ts';
import type { DrillView, Situation } from '../situation.ts';

const usual = { ms: 30_000 };

/** Tokens on connections: D2, D3 and D8. */
export const tokenSituations: readonly Situation[] = [
  {
    id: 'D2',
    title: 'presents the JWT first, unchanged',
    until: ({ seen }) =>
      shownTokens(seen).some((one) => one.confirmed || one.refused) ||
      connections(seen).some((one) => !isOpen(one)),
    longest: usual,
    judge: judgeBy('D2'),
  },
  {
    id: 'D3',
    title: 'a token of its own for each connection',
    steps: [{ when: isStreaming, do: { fault: { name: 'close', code: 1012, times: 1 } } }],
    until: (view) => shownTokens(view.seen).length > 1,
    longest: usual,
    restarts: true,
    judge: (view) =>
      shownTokens(view.seen).length > 1
        ? judgeBy('D3')(view)
        : unknown('it connected only once, so its next token was not seen', view.seen),
  },
];

export const refusedTokenSituations: readonly Situation[] = [
  {
    id: 'D8-refused',
    title: 'the stream refuses a valid token',
    service: { faults: [{ name: 'auth-refused', times: 1 }] },
    until: (view) => isAcceptedAfterRefusal(view) || hasTwice(view),
    longest: usual,
    restarts: true,
    judge: (view) => judgeComeback(view, judgeBy('D8')(view)),
  },
  {
    id: 'D8-expired',
    title: 'the token expires before it arrives',
    service: { faults: [{ name: 'token-expired', times: 1 }] },
    until: (view) => streamsConfirmed(view).length > 0 || hasTwice(view),
    longest: usual,
    restarts: true,
    judge: judgeExpired,
  },
  {
    id: 'D8-session',
    title: 'the service ends the stream when its token expires',
    service: { dialect: { stream: { expiryDuringStream: 'close' } } },
    steps: [{ when: isStreaming, do: { advanceMs: 61_000 } }],
    until: (view) => isBack(view) || hasTwice(view),
    longest: usual,
    restarts: true,
    judge: (view) => judgeTwice(view) ?? judgeComeback(view, judgeBy('D9')(view)),
  },
];

/** Whether a token was presented again. */
function hasTwice(view: DrillView): boolean {
  return judgeTwice(view) !== undefined;
}

function judgeTwice({ seen }: DrillView): Finding | undefined {
  const shown = shownTokens(seen);
  const again = shown.find(({ message }, index) =>
    shown.slice(0, index).some((one) => one.message.token.hash === message.token.hash),
  );
  return again && fail(`it presented the same token again (${tokenName(again.message)})`, again.stream);
}

/** A device that reads the claims need not try an expired token. */
function judgeExpired(view: DrillView): Finding {
  const noticed = shownTokens(view.seen).every(({ refused }) => !refused);
  if (noticed && streamsConfirmed(view).length > 0)
    return pass('it noticed that its token had expired, and requested another', view.seen);
  const granted = deviceRequests(view.seen).find(isGranted);
  return judgeComeback(view, judgeBy('D8')(view), granted && answeredAt(granted));
}

function interrupted(name: string, title: string, fault: FaultInput): Situation {
  return {
    id: `D9-${name}`,
    title,
    steps: [{ when: isStreaming, do: { fault: { ...fault, times: 1 } } }],
    until: (view) => isBack(view) || isStuck(view),
    longest: usual,
    restarts: true,
    judge: (view) => judgeComeback(view, judgeBy('D9')(view)),
  };
}

export const interruptionSituations: readonly Situation[] = [
  interrupted('1001', 'the service goes away (1001)', { name: 'close', code: 1001 }),
  interrupted('1011', 'the service fails (1011)', { name: 'close', code: 1011 }),
  interrupted('1012', 'the service restarts (1012)', { name: 'close', code: 1012 }),
  interrupted('4000', 'a service-specific close code (4000)', { name: 'close', code: 4000 }),
  interrupted('cut', 'the connection ends without a close frame', { name: 'abnormal-close' }),
  interrupted('reset', 'the connection is reset', { name: 'reset' }),
  {
    id: 'D9-again',
    title: 'each new stream is closed immediately, four times',
    service: { faults: [{ name: 'close', code: 1011, times: 4 }] },
    until: (view) =>
      streamsConfirmed(view).length > 4 || isStuck(view) || judgeBy('D9')(view).verdict === 'fail',
    longest: { ms: 60_000 },
    judge: judgeRepeated,
  },
  {
    id: 'D9-503',
    title: 'the upgrade is refused with 503, four times',
    service: { faults: [{ name: 'upgrade-refused', times: 4 }] },
    until: (view) => streamsConfirmed(view).length > 0,
    longest: { ms: 60_000 },
    judge: judgeUpgrades,
  },
];

function judgeRepeated(view: DrillView): Finding {
  const count = interruptions(view.seen).length;
  const found = judgeBy('D9')(view);
  if (count > 3 || found.verdict === 'fail') return found;
  return judgeComeback(view, unknown(`closed only ${count} times`, view.seen));
}

function judgeUpgrades(view: DrillView): Finding {
  const refused = upgradesRefusedAt(view);
  if (view.isShared && refused.length > 0)
    return unknown('other devices connected too, and an upgrade does not name its device', view.seen);
  const opened = connections(view.seen).map(({ exchange }) => exchange.upgrade.at);
  const times = [...refused, ...opened.slice(0, 1)];
  if (growsApart(times) === false)
    return fail(`refused, it tried again after ${waitsText(times)}: the waits do not grow`, view.seen);
  const found =
    streamsConfirmed(view).length > 0 && refused.length > 0
      ? pass(`refused, it tried again after ${waitsText(times)}`, view.seen)
      : unknown('it did not reconnect', view.seen);
  return judgeComeback(view, found);
}

/** A service that disappears without saying so: D10. */
export const silenceSituations: readonly Situation[] = [
  {
    id: 'D10-half-open',
    title: 'the service disappears without a close frame',
    steps: [{ when: isStreaming, do: { fault: { name: 'half-open', times: 1 } } }],
    until: (view) => (isBack(view) && !isFirstOpen(view)) || isStuck(view) || isUnnoticed(view),
    longest: { ...usual, notices: true },
    restarts: true,
    judge: judgeHalfOpen,
  },
];

function isFirstOpen(view: DrillView): boolean {
  const [first] = streamsConfirmed(view);
  return first === undefined || isOpen(first);
}

function isUnnoticed(view: DrillView): boolean {
  return isFirstOpen(view) && isPast(view, view.deviceTimeoutMs + 1);
}

function judgeHalfOpen(view: DrillView): Finding {
  const [first, second] = streamsConfirmed(view);
  const [at] = view.done;
  if (first === undefined || at === undefined) return unknown('no stream was open', []);
  const { end } = first.exchange;
  if (end === undefined)
    return second === undefined
      ? fail(
          `nothing arrived and no ping was answered for ${secondsText(view.now - at, 1)}, but it did not notice`,
          first,
        )
      : fail('it opened a new connection and left the dead one open', [first, second]);
  const noticed = `it noticed after ${secondsText(end.at - at, 1)}`;
  if (end.at - at > view.deviceTimeoutMs)
    return fail(`${noticed}, the limit is ${secondsText(view.deviceTimeoutMs, 1)}`, first);
  return judgeComeback(
    view,
    second === undefined ? unknown(noticed, first) : pass(`${noticed} and reconnected`, [first, second]),
  );
}

const pingEveryMs = 2_000;
/** How long a device may take to answer a ping or a close. */
const answerMs = 2_000;
/** Audio that may be on its way when a close is sent, milliseconds. */
const inFlightMs = 500;

/** What the WebSocket protocol requires of a device: D15 and D16. */
export const answerSituations: readonly Situation[] = [
  {
    id: 'D15',
    title: 'the service pings',
    service: { pingEveryMs },
    until: (view) => judgePings(view).verdict !== 'unknown',
    longest: usual,
    judge: judgePings,
  },
  {
    id: 'D16',
    title: 'the service closes, and waits for the answer',
    steps: [{ when: isStreaming, do: { fault: { name: 'close', code: 1012, times: 1 } } }],
    until: (view) => isPast(view, answerMs) || (view.done.length > 0 && !isFirstOpen(view)),
    longest: usual,
    judge: judgeAnswer,
  },
];

function judgePings(view: DrillView): Finding {
  for (const stream of streamsConfirmed(view)) {
    const { messages, end } = stream.exchange;
    const ping = messages.find(({ from, opcode }) => from === 'service' && opcode === 'ping');
    if (ping === undefined) continue;
    const pong = messages.find(
      ({ from, opcode, at }) => from === 'device' && opcode === 'pong' && at >= ping.at,
    );
    if (pong !== undefined)
      return pass(`it answered a ping after ${secondsText(pong.at - ping.at, 1)}`, stream);
    // The service detects a cut stream by its next ping, which comes just as soon.
    if (end?.by === 'service' || view.now - ping.at > answerMs)
      return fail(
        `a ping was not answered within ${secondsText(answerMs, 1)}: a service considers such a stream lost`,
        stream,
      );
  }
  return unknown('no ping was sent: no stream was open long enough', view.seen);
}

function judgeAnswer(view: DrillView): Finding {
  const [stream] = streamsConfirmed(view);
  const [at] = view.done;
  if (stream === undefined || at === undefined) return unknown('no stream was open', view.seen);
  const { end } = stream.exchange;
  const lateMs = sentMs(stream, at + inFlightMs);
  if (lateMs > 0) return fail(`it sent ${secondsText(lateMs, 1)} of audio after the close`, stream);
  if (end === undefined)
    return fail(`it did not answer the close within ${secondsText(view.now - at, 1)}`, stream);
  if (end.code === closeCodes.abnormal)
    return fail('it cut the connection and did not answer the close', stream);
  return pass(`it answered the close after ${secondsText(end.at - at, 1)}`, stream);
}

/** How a device ends: D13. */
export const endSituations: readonly Situation[] = [
  {
    id: 'D13-stop',
    title: 'the device is stopped',
    steps: [{ when: isStreaming, do: { stop: 'device' } }],
    until: (view) => view.done.length > 0 && streamsConfirmed(view).every((one) => !isOpen(one)),
    longest: usual,
    judge(view) {
      if (view.done.length === 0) return unknown('it did not stream', view.seen);
      if (streamsConfirmed(view).some(isOpen))
        return unknown('its stream is still open: nobody stopped the device', view.seen);
      return judgeBy('D13')(view);
    },
  },
  {
    id: 'D13-orphans',
    title: 'the confirmation never comes',
    service: { faults: [{ name: 'connected-missing', times: 1 }] },
    until: (view) => streamsConfirmed(view).length > 0 && (!isUnconfirmedOpen(view) || isLate(view)),
    longest: usual,
    restarts: true,
    judge: judgeOrphans,
  },
];

/** A moment for the old connection to end after the new one has opened. */
const orphanMs = 2_000;

function isUnconfirmedOpen(view: DrillView): boolean {
  return unconfirmed(view).some(isOpen);
}

function unconfirmed({ seen }: DrillView) {
  const shown = shownTokens(seen);
  return shown.filter((one) => !one.confirmed).map(({ stream }) => stream);
}

function isLate(view: DrillView): boolean {
  const [first] = streamsConfirmed(view);
  return first !== undefined && view.now - first.exchange.upgrade.at > orphanMs;
}

function judgeOrphans(view: DrillView): Finding {
  const orphans = unconfirmed(view).filter(isOpen);
  const [back] = streamsConfirmed(view);
  const [first] = unconfirmed(view);
  if (first === undefined) return unknown('no stream was left unconfirmed', view.seen);
  if (back === undefined && isOpen(first))
    return unknown(
      `it waited ${secondsText(view.now - first.exchange.upgrade.at, 1)} or longer for the confirmation`,
      first,
    );
  if (back !== undefined && orphans.length > 0)
    return fail('it connected again and left the old connection open', [...orphans, back]);
  const waited = secondsText((first.exchange.end?.at ?? view.now) - first.exchange.upgrade.at, 1);
  return pass(`it gave up after ${waited} and closed the connection`, first);
}
