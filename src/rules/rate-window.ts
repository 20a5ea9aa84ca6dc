import {
  rateLimitHeaderNames,
  rateLimitWindowMs,
  readMoment,
  readRateLimitHeaders,
} from '../protocol/rate-limit.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { HttpAnswer } from '../wire/exchange.ts';
import { headerValue } from '../wire/headers.ts';
import { memoise } from './memo.ts';
import { type Finding, fail, pass, type Seen, unknown, warn } from './rule.ts';
import {
  byDevice,
  deviceOf,
  grantsSeen,
  type SeenAnswer,
  type SeenGrant,
  serviceTime,
  tokenAnswers,
} from './token-seen.ts';

/** What an answer says about the limit. */
export const limitsOf = ({ exchange }: SeenAnswer) => readLimits(exchange.answer);

/** The requests left after this one; undefined if the answer does not say. */
export function remainingOf(one: SeenAnswer): number | undefined {
  return limitsOf(one).remaining;
}

/** When the limit resets, milliseconds of the service's time: our clock may be wrong. */
export function resetAt(one: SeenAnswer): number | undefined {
  const { answer, wallAt } = one.exchange;
  return readMoment(headerValue(answer.headers, rateLimitHeaderNames.reset), serviceTime(one) ?? wallAt);
}

/** The rate-limit headers that an answer lacks. */
export function missingHeaders({ exchange: { answer } }: SeenAnswer): string[] {
  return Object.values(rateLimitHeaderNames).filter(
    (name) => headerValue(answer.headers, name) === undefined,
  );
}

/** A proxy judges the same answers again and again. */
const readLimits = memoise((answer: HttpAnswer) =>
  readRateLimitHeaders((name) => headerValue(answer.headers, name), 0),
);

/**
 * Whether a window began with this request: one less than the limit is left, and the request of the device before it is not known, is
 * older than a window, or left fewer.
 */
export function beginsWindow(one: SeenGrant, seen: readonly Seen[]): boolean {
  const { limit, remaining } = limitsOf(one);
  if (limit === undefined || remaining !== limit - 1) return false;
  const { at } = one.exchange;
  const before = tokenAnswers(seen)
    .filter((other) => other !== one && deviceOf(other) === deviceOf(one) && other.exchange.at <= at)
    .reduce<SeenAnswer | undefined>(
      (a, b) => (a === undefined || b.exchange.at > a.exchange.at ? b : a),
      undefined,
    );
  if (before === undefined || before.exchange.at <= at - rateLimitWindowMs) return true;
  return (remainingOf(before) ?? limit) < remaining;
}

/** A first request of a device, one within its window, and one just after it. */
interface Span {
  first: SeenGrant;
  within: SeenGrant;
  after: SeenGrant;
}

const earliestWithinMs = rateLimitWindowMs / 3;
/** Whole seconds may be rounded either way. */
const slackMs = 500;

/**
 * Whether a request so long after the first of a device is well within its window, and another one, so long after the answer to
 * the first, just after it: a service may count a request only when it answers it.
 */
export function spansWindow(withinMs: number, afterMs: number): boolean {
  const isInside = withinMs >= earliestWithinMs && withinMs < rateLimitWindowMs - slackMs;
  return isInside && afterMs > rateLimitWindowMs + slackMs && afterMs < 1.4 * rateLimitWindowMs;
}

/** Devices with exactly three requests, so that nothing else is in the window. */
function spans(seen: readonly Seen[]): Span[] {
  return byDevice(grantsSeen(seen)).flatMap(([first, within, after, ...more]) => {
    if (first === undefined || within === undefined || after === undefined || more.length > 0) return [];
    const { at, totalMs } = first.exchange;
    const isSpan = spansWindow(within.exchange.at - at, after.exchange.at - at - totalMs);
    return isSpan ? [{ first, within, after }] : [];
  });
}

/** Both readings of the text pass: the window starts with the first request, or each request counts for 60 s. */
export function judgeWindow(seen: readonly Seen[]): Finding | undefined {
  const [span] = spans(seen);
  if (span === undefined) return undefined;
  const evidence = [span.first, span.within, span.after];
  const { limit } = limitsOf(span.first);
  const [first, within, after] = evidence.map(remainingOf);
  if (limit === undefined || first === undefined || within === undefined || after === undefined)
    return unknown('the answers do not report how many requests are left', evidence);
  if (first < limit - 1)
    return unknown(
      `Remaining is ${first} after the first known request: the window had already begun`,
      evidence,
    );
  const [withinText, afterText] = [span.within, span.after].map(({ exchange }) =>
    secondsText(exchange.at - span.first.exchange.at, 1),
  );
  const values = `Remaining is ${first}, ${within} after ${withinText}, and ${after} after ${afterText}`;
  if (within >= first) return warn(`${values}: the allowance refills before 60 s have passed`, evidence);
  if (within < first - 1) return unknown(`${values}: something else also uses this device`, evidence);
  if (after === limit - 1) return pass(`${values}: the whole allowance came back at once`, evidence);
  if (after === limit - 2) return pass(`${values}: the allowance comes back request by request`, evidence);
  if (after < first) return fail(`${values}: it does not reset`, evidence);
  return unknown(values, evidence);
}
