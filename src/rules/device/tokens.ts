import { absenceProblem, firstBinaryProblem, type TokenProblem } from '../../protocol/first-message.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { isConcealed } from '../../wire/conceal.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, unknown, warn } from '../rule.ts';
import { deviceMessages, type SeenStream, soonMs } from '../stream-seen.ts';
import { grantsSeen, isGranted } from '../token-seen.ts';
import {
  answeredAt,
  connections,
  deviceRequests,
  type ShownToken,
  shownTokens,
  tokenName,
} from './device-seen.ts';

const section = 'Authentication';

/** How a device uses its tokens. */
export const tokenRules: readonly Rule[] = [
  {
    id: 'D2',
    section,
    title: 'presents the JWT first, unchanged',
    says: 'The JWT is presented as the first message after the WebSocket connection opens: the JWT, as a string.',
    judge: (seen) =>
      mostSevere(
        connections(seen).flatMap((stream) => [judgeFirstMessage(stream, seen), judgeElsewhere(stream)]),
      ),
  },
  {
    id: 'D3',
    section,
    title: 'requests a new token for each connection',
    says: 'It is meant for a single connection, is to be used immediately, and is not to be cached or stored.',
    judge: judgeUse,
  },
  {
    id: 'D8',
    section,
    title: 'requests a new token after a refusal',
    says: 'A token cannot be renewed; a new token is requested for each WebSocket connection.',
    judge: judgeRefusal,
  },
];

function judgeFirstMessage(stream: SeenStream, seen: readonly Seen[]): Finding | undefined {
  const messages = deviceMessages(stream);
  const [first] = messages;
  const { tokenIn } = stream.exchange.upgrade;
  if (first === undefined) {
    const isAtFault = tokenIn !== undefined || hasHadTime(stream);
    return isAtFault ? failWith(absenceProblem(tokenIn, 0), stream) : undefined;
  }
  if (!('token' in first)) {
    const problem = messages.some((one) => 'token' in one)
      ? firstBinaryProblem(first.bytes, false)
      : absenceProblem(tokenIn, messages.length);
    return failWith(problem, stream);
  }
  const granted = grantsSeen(seen).filter(({ exchange }) => exchange.at <= first.at);
  const isAsGranted =
    first.opcode === 'text' &&
    granted.some(
      ({ exchange }) => exchange.granted.hash === first.token.hash && exchange.granted.bytes === first.bytes,
    );
  if (isAsGranted) return pass('the JWT comes first, as text', stream);
  if (first.problem !== undefined) return failWith(first.problem, stream);
  if (first.token.claims !== undefined) return pass('a JWT comes first, as text', stream);
  return fail(`the first message (${first.bytes} bytes) is not a JWT`, stream);
}

/** Whether the service waited for a token before it ended the stream; otherwise one may have been under way. */
function hasHadTime({ exchange: { upgrade, end } }: SeenStream): boolean {
  return end?.by === 'service' && end.at - (upgrade.at + upgrade.totalMs) >= soonMs;
}

/** A token in another place beside the first message: the specification shows none there. */
function judgeElsewhere(stream: SeenStream): Finding | undefined {
  const [first, ...later] = deviceMessages(stream);
  if (first === undefined || !('token' in first)) return undefined;
  const { tokenIn } = stream.exchange.upgrade;
  const only = 'send it as the first message only';
  if (tokenIn !== undefined) return warn(`the token also arrived in ${tokenIn}: ${only}`, stream);
  const isAgain = later.some((one) => 'text' in one && isConcealed(one.text));
  return isAgain ? warn(`a token arrived in a later message: ${only}`, stream) : undefined;
}

function failWith({ why, advice }: TokenProblem, stream: Seen): Finding {
  return { ...fail(`${why}: ${advice}`, stream), advice };
}

/** "Used immediately." */
const longestAgeMs = 10_000;

function judgeUse(seen: readonly Seen[]): Finding | undefined {
  const shown = shownTokens(seen).filter(({ message }) => message.token.claims !== undefined);
  const [first] = shown;
  if (first === undefined) return undefined;
  const reused = shown.flatMap((again, index) => {
    const before = firstUse(again, shown.slice(0, index));
    if (before === undefined || isGrantedAnew(again, seen)) return [];
    const text = `the token of an earlier connection was presented again (${tokenName(again.message)})`;
    return [{ ...fail(text, [before.stream, again.stream]), about: [again.stream.id] }];
  });
  if (reused.length > 0) return mostSevere(reused);
  const ages = shown.flatMap(({ message, stream }) => {
    const grant = grantsSeen(seen).find(({ exchange }) => exchange.granted.hash === message.token.hash);
    return grant === undefined ? [] : [{ ms: message.at - answeredAt(grant), grant, stream }];
  });
  const old = ages.find(({ ms }) => ms > longestAgeMs);
  if (old !== undefined)
    return fail(`a token was presented ${secondsText(old.ms, 1)} after it was issued`, [
      old.grant,
      old.stream,
    ]);
  const count =
    shown.length === 1 ? 'one connection, one token' : `${shown.length} connections, each with its own token`;
  const slowest = Math.max(0, ...ages.map(({ ms }) => ms));
  return pass(
    `${count}, used within ${secondsText(slowest, 1)}`,
    shown.map(({ stream }) => stream),
  );
}

/** Whether the token was granted more than once: without `jti`, tokens of the same second are identical. */
function isGrantedAnew({ message }: ShownToken, seen: readonly Seen[]): boolean {
  return grantsSeen(seen).filter(({ exchange }) => exchange.granted.hash === message.token.hash).length > 1;
}

/** An earlier use of the same token, which the service did not refuse. */
function firstUse({ message }: ShownToken, before: readonly ShownToken[]): ShownToken | undefined {
  return before.find((one) => !one.refused && one.message.token.hash === message.token.hash);
}

function judgeRefusal(seen: readonly Seen[]): Finding | undefined {
  const shown = shownTokens(seen);
  return mostSevere(
    shown.flatMap((one, index) => {
      const { message, stream } = one;
      const later = shown.slice(index + 1);
      const same = later.find((other) => other.message.token.hash === message.token.hash);
      if (!one.refused) return [];
      if (same !== undefined && !isGrantedAnew(same, seen))
        return [
          {
            ...fail(`the refused token was presented again (${tokenName(message)})`, [stream, same.stream]),
            about: [same.stream.id],
          },
        ];
      const endedAt = stream.exchange.end?.at ?? stream.exchange.upgrade.at;
      const next = deviceRequests(seen).find(({ exchange }) => exchange.at >= endedAt);
      if (next === undefined) return [unknown('it did not reconnect after its token was refused', stream)];
      const after = secondsText(next.exchange.at - endedAt, 1);
      return [
        pass(`it requested a new token after ${after}${isGranted(next) ? '' : ', which was not granted'}`, [
          stream,
          next,
        ]),
      ];
    }),
  );
}
