import {
  rateLimitHeaderNames,
  rateLimitWindowMs,
  smallestEpochSeconds,
  tokenRequestsPerWindow,
} from '../protocol/rate-limit.ts';
import { secondsText } from '../protocol/time-text.ts';
import { headerValue } from '../wire/headers.ts';
import { beginsWindow, judgeWindow, limitsOf, missingHeaders, remainingOf, resetAt } from './rate-window.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, show, unknown, warn } from './rule.ts';
import {
  byDevice,
  deviceOf,
  grantsSeen,
  hasSucceeded,
  isGranted,
  isProper,
  pathOf,
  type SeenAnswer,
  type SeenGrant,
  saidText,
  serviceTime,
  tokenAnswers,
} from './token-seen.ts';

const section = 'Limits';

/** The rate limit of a device: its headers and its refusals. */
export const rateLimitRules: readonly Rule[] = [
  {
    id: 'R23',
    section,
    title: 'the three rate-limit headers are present',
    says: `Rate-limit response headers: ${Object.values(rateLimitHeaderNames).join(', ')}.`,
    judge: judgeHeaders,
  },
  {
    id: 'R24',
    section,
    title: `the limit is ${tokenRequestsPerWindow}`,
    says: `${rateLimitHeaderNames.limit}: request allowance (60).`,
    judge: (seen) =>
      judgeEach(seen, rateLimitHeaderNames.limit, (grant, value) => {
        const message = `${rateLimitHeaderNames.limit} is ${show(value)}`;
        if (value.trim() === String(tokenRequestsPerWindow)) return pass(message, grant);
        return fail(`${message}; a contract may set another limit`, grant);
      }),
  },
  {
    id: 'R25',
    section,
    title: 'Remaining falls by one for each token',
    says: `${rateLimitHeaderNames.remaining}: requests left in the window.`,
    judge: (seen) => mostSevere([...grantsSeen(seen).map(judgeRemaining), judgeCountdown(seen)]),
  },
  {
    id: 'R26',
    section,
    title: 'both paths share one window',
    says: 'Token requests: 60 per minute per device, whichever form of the path.',
    judge: judgeShared,
  },
  {
    id: 'R27',
    section,
    title: 'each device has its own window',
    says: 'Token requests: 60 per minute per device.',
    judge: judgeDevices,
  },
  {
    id: 'R28',
    section,
    title: 'Reset is a timestamp within 60 s',
    says: `${rateLimitHeaderNames.reset}: timestamp at which the limit resets: 60 seconds after the first request.`,
    judge: (seen) =>
      judgeEach(seen, rateLimitHeaderNames.reset, (grant, value) =>
        judgeResetHeader(grant, value, beginsWindow(grant, seen)),
      ),
  },
  {
    id: 'R29',
    section,
    title: 'the window resets after 60 s',
    says: 'Rolling 60-second window; the limit resets 60 seconds after the first request.',
    judge: judgeWindow,
  },
  {
    id: 'R30',
    section,
    title: '60 requests pass, the 61st is refused',
    says: 'Token requests: 60 per minute per device.',
    judge: judgeExhaustion,
  },
  {
    id: 'R31',
    section,
    title: 'accepted again after the reset',
    says: 'The limit resets 60 seconds after the first request.',
    judge: judgeReset,
  },
];

function judgeHeaders(seen: readonly Seen[]): Finding | undefined {
  const granted = grantsSeen(seen);
  const lacking = granted.filter((grant) => missingHeaders(grant).length > 0);
  const [first] = lacking;
  if (first !== undefined) return fail(`without ${missingHeaders(first).join(', ')}`, lacking);
  return granted.length > 0 ? pass('all three are present', granted) : undefined;
}

function judgeEach(
  seen: readonly Seen[],
  header: string,
  judge: (grant: SeenGrant, value: string) => Finding,
): Finding | undefined {
  return mostSevere(
    grantsSeen(seen).map((grant) => {
      const value = headerValue(grant.exchange.answer.headers, header);
      return value === undefined ? undefined : judge(grant, value);
    }),
  );
}

interface Pair {
  first: SeenGrant;
  second: SeenGrant;
  /** By how much Remaining fell from the first to the second. */
  fall: number;
  /** Whether no other request came between. */
  isAdjacent: boolean;
  /** Whether the second must count after the first: the second request was sent after the first was answered, and before the reset in that answer. */
  isOrdered: boolean;
}

/** Pairs of successive granted requests of a device within one window. */
function pairs(seen: readonly Seen[]): Pair[] {
  const answers = tokenAnswers(seen).sort((a, b) => a.exchange.at - b.exchange.at);
  const places = new Map(answers.map((one, at) => [one, at]));
  const counted = grantsSeen(answers).flatMap((grant) => {
    const remaining = remainingOf(grant);
    return remaining === undefined ? [] : [{ grant, remaining, place: places.get(grant) ?? 0 }];
  });
  return counted.flatMap(({ grant: first, remaining, place }, at) =>
    counted
      .slice(at + 1)
      .filter(({ grant }) => grant.exchange.at - first.exchange.at < rateLimitWindowMs / 2)
      .map(({ grant: second, remaining: after, place: next }) => {
        const isAdjacent = next - place === 1;
        return { first, second, fall: remaining - after, isAdjacent, isOrdered: isOrdered(first, second) };
      }),
  );
}

/** Whole seconds may be rounded up, and `Date` is rounded down. */
const slackMs = 2_000;

function isOrdered(one: SeenGrant, other: SeenGrant): boolean {
  const [{ exchange: first }, { exchange: second }] = [one, other];
  if (second.at < first.at + first.totalMs) return false;
  const resetAtMs = resetAt(one);
  // The service's clock may differ from ours: its reset is compared with its own time.
  const firstAt = serviceTime(one) ?? first.wallAt;
  const answeredAt = serviceTime(other) ?? firstAt + (second.at - first.at) + second.totalMs;
  return resetAtMs === undefined || answeredAt < resetAtMs - slackMs;
}

function ofOneDevice({ first, second }: Pair): boolean {
  return deviceOf(first) === deviceOf(second);
}

function ofOnePath({ first, second }: Pair): boolean {
  return pathOf(first) === pathOf(second);
}

/** Remaining is a number, and the request that was granted is not among those that are left. */
function judgeRemaining(grant: SeenGrant): Finding | undefined {
  const value = headerValue(grant.exchange.answer.headers, rateLimitHeaderNames.remaining);
  const { limit, remaining } = limitsOf(grant);
  if (value === undefined) return undefined;
  if (remaining === undefined)
    return fail(`${rateLimitHeaderNames.remaining} is ${show(value)}: not a number of requests`, grant);
  if (limit === undefined || remaining < limit) return undefined;
  return fail(`Remaining is ${remaining} of ${limit} after a request was granted`, grant);
}

function judgeCountdown(seen: readonly Seen[]): Finding | undefined {
  const own = pairs(seen).filter(ofOneDevice);
  const adjacent = own.filter(({ isAdjacent }) => isAdjacent);
  const right = adjacent.find(({ fall }) => fall === 1);
  if (right !== undefined)
    return stuckBeside(right, own, seen) ?? pass(fallText(right), [right.first, right.second]);
  const falling = own.find((pair) => ofOnePath(pair) && pair.fall >= 1);
  const [wrong] = adjacent.filter((pair) => pair.isOrdered);
  if (wrong === undefined) return falling && pass(fallText(falling), [falling.first, falling.second]);
  const evidence = [wrong.first, wrong.second];
  if (wrong.fall > 1) {
    const text = fallText(wrong);
    const suspicion = `${text}; on a fresh device it also falls by more than one`;
    return {
      ...unknown(
        `${text}: something else also uses this device, or each token counts as more than one`,
        evidence,
      ),
      suspicion,
    };
  }
  // Each path may have its own count: that is another rule.
  if (falling !== undefined) return pass(fallText(falling), [falling.first, falling.second]);
  return fail(fallText(wrong), evidence);
}

/**
 * A pair within the window of a device's first request where Remaining does not fall, although it falls for another one. In neither
 * reading of the window does a request come back so early; an allowance that refills in between does it.
 */
function stuckBeside(right: Pair, own: readonly Pair[], seen: readonly Seen[]): Finding | undefined {
  const starts = grantsSeen(seen).filter((grant) => beginsWindow(grant, seen));
  // The last: its two requests are those that follow each other.
  const stuck = own.findLast(
    (pair) =>
      pair.isOrdered &&
      pair.fall < 1 &&
      // Nothing is below 0: that the next is granted is another rule.
      remainingOf(pair.first) !== 0 &&
      // Each path may have its own count: that is another rule.
      (ofOnePath(pair) || !ofOnePath(right)) &&
      starts.some((start) => isWithinWindowOf(start, pair)),
  );
  return (
    stuck &&
    warn(
      `${fallText(right)}, but then it goes from ${remainingOf(stuck.first)} to ${remainingOf(stuck.second)}: the allowance refills before 60 s have passed, or not every token counts`,
      [right.first, right.second, stuck.first, stuck.second],
    )
  );
}

function isWithinWindowOf(start: SeenGrant, { first, second }: Pair): boolean {
  const { at } = start.exchange;
  return (
    deviceOf(start) === deviceOf(first) &&
    first.exchange.at >= at &&
    second.exchange.at + second.exchange.totalMs < at + rateLimitWindowMs - slackMs
  );
}

function fallText({ first, second }: Pair): string {
  return `Remaining goes from ${remainingOf(first)} to ${remainingOf(second)}`;
}

function judgeShared(seen: readonly Seen[]): Finding | undefined {
  const own = pairs(seen).filter(ofOneDevice);
  const across = own.find((pair) => pair.isAdjacent && !ofOnePath(pair));
  if (across === undefined) return undefined;
  const evidence = [across.first, across.second];
  if (across.fall >= 1) return pass(`${fallText(across)} across the two paths`, evidence);
  const falls = own.find((pair) => ofOnePath(pair) && pair.fall >= 1);
  if (falls === undefined)
    return unknown(
      `${fallText(across)} across the two paths, and does not fall on a single path either`,
      evidence,
    );
  const message = `${fallText(across)} across the two paths, although it falls on a single path`;
  return fail(message, [...evidence, falls.first, falls.second]);
}

function judgeDevices(seen: readonly Seen[]): Finding | undefined {
  const all = pairs(seen).filter(({ isAdjacent }) => isAdjacent);
  const across = all.filter((pair) => !ofOneDevice(pair));
  const [first] = across;
  if (first === undefined) return undefined;
  const evidence = [first.first, first.second];
  const counted = across.filter(({ fall }) => fall === 1);
  const own = all.find(ofOneDevice);
  if (own !== undefined && own.fall < 1)
    return unknown('Remaining does not fall for a single device either', evidence);
  if (counted.length < across.length) return pass('another device has its own Remaining', evidence);
  return fail(`${fallText(first)} across two devices`, evidence);
}

function judgeResetHeader(grant: SeenGrant, value: string, isFirst: boolean): Finding {
  const { exchange } = grant;
  if (/^\d+(\.\d+)?$/.test(value.trim()) && Number(value) < smallestEpochSeconds)
    return fail(`${rateLimitHeaderNames.reset} is ${show(value)}: seconds from now, not a timestamp`, grant);
  const resetAtMs = resetAt(grant);
  if (resetAtMs === undefined)
    return fail(`${rateLimitHeaderNames.reset} is ${show(value)}: not a timestamp`, grant);
  const answeredAt = serviceTime(grant);
  if (answeredAt === undefined)
    return unknown(`${rateLimitHeaderNames.reset} is ${show(value)}; the answer has no Date header`, grant);
  const inMs = resetAtMs - answeredAt;
  const message = `resets in ${secondsText(inMs, 1)} (${show(value)})`;
  const earlyMs = slackMs + exchange.totalMs;
  if (inMs < -earlyMs || inMs > rateLimitWindowMs + slackMs) return fail(message, grant);
  if (!isFirst || inMs >= rateLimitWindowMs - earlyMs) return pass(message, grant);
  const early = `${message} after the first request of a window`;
  // Windows of another kind, which neither reading of the text has.
  if (resetAtMs % rateLimitWindowMs === 0) return warn(`${early}, at a full minute`, grant);
  if (inMs <= earlyMs) return warn(`${early}: the allowance refills before 60 s have passed`, grant);
  return fail(early, grant);
}

/** The requests of one device, in their order, from the first of a window on. */
interface Burst {
  granted: SeenAnswer[];
  /** The first that was refused. */
  refused: SeenAnswer | undefined;
  /** Requests after the window of the first had passed. */
  later: SeenAnswer[];
}

/** Fewer than this in a window are not an attempt to reach the limit. */
const fewest = tokenRequestsPerWindow / 2;

/** Whether a refusal after so many granted requests shows the limit: a device may also be unknown, or the service in trouble. */
export function showsLimit({ exchange }: SeenAnswer, granted: number): boolean {
  return exchange.answer.status === 429 || granted >= fewest;
}

/** A refusal that does not show the limit decides nothing about it. */
function judgeOtherRefusal({ granted, refused }: Burst): Finding | undefined {
  if (refused === undefined || showsLimit(refused, granted.length)) return undefined;
  return unknown(`${refusalText(granted.length, refused)}${saidText(refused)}: that need not be the limit`, [
    ...granted.slice(-1),
    refused,
  ]);
}

function refusalText(count: number, refused: SeenAnswer): string {
  return `${count} requests were granted, and the next was answered with ${refused.exchange.answer.status}`;
}

function bursts(seen: readonly Seen[]): Burst[] {
  return byDevice(tokenAnswers(seen).filter(isProper))
    .filter((own) => own.length >= fewest || own.every(({ provoked }) => provoked === true))
    .map((own) => {
      const { at: start = 0, totalMs = 0 } = own[0]?.exchange ?? {};
      const answered = start + totalMs;
      const within = own.filter(({ exchange }) => exchange.at - start < rateLimitWindowMs);
      const grantsSome = own.some(isGranted);
      const end = within.findIndex((one) => (grantsSome ? !isGranted(one) : !hasSucceeded(one)));
      return {
        granted: end < 0 ? within : within.slice(0, end),
        refused: end < 0 ? undefined : within[end],
        // The service may have counted the first request only when it answered it.
        later: own.filter(({ exchange }) => exchange.at >= answered + rateLimitWindowMs),
      };
    })
    .filter(({ granted, refused }) => granted.length >= fewest || refused !== undefined);
}

/** 60 requests in a window pass, and the 61st does not. */
function judgeExhaustion(seen: readonly Seen[]): Finding | undefined {
  const [burst] = bursts(seen);
  if (burst === undefined) return undefined;
  const { granted, refused } = burst;
  const [first] = granted;
  const count = granted.length;
  const last = granted.slice(-1);
  const left = first && remainingOf(first);
  if (left !== undefined && left < tokenRequestsPerWindow - 1 && first?.provoked !== true)
    return unknown(`the first known request leaves ${left}: the window had already begun`, last);
  if (count > tokenRequestsPerWindow) return fail(`${count} requests in one window were granted`, last);
  if (refused === undefined) return unknown(`${count} requests were granted, and no more were sent`, last);
  const other = judgeOtherRefusal(burst);
  if (other !== undefined) return other;
  const evidence = [...last, refused];
  const message = refusalText(count, refused);
  return count === tokenRequestsPerWindow ? pass(message, evidence) : fail(message, evidence);
}

/** After the window has passed, requests are granted again. */
function judgeReset(seen: readonly Seen[]): Finding | undefined {
  const burst = bursts(seen).find(({ refused }) => refused !== undefined);
  const [first] = burst?.later ?? [];
  if (burst?.refused === undefined || first === undefined) return undefined;
  const other = judgeOtherRefusal(burst);
  if (other !== undefined) return other;
  const evidence = [burst.refused, first];
  const { status } = first.exchange.answer;
  if (isGranted(first)) return pass('refused, then granted again after the reset', evidence);
  return fail(`answered ${status} after the reset${saidText(first)}`, evidence);
}
