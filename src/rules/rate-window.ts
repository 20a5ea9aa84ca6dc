import { rateLimitWindowMs, readRateLimitHeaders } from '../protocol/rate-limit.ts';
import type { HttpAnswer } from '../wire/exchange.ts';
import { headerValue } from '../wire/headers.ts';
import { memo } from './memo.ts';
import { type Finding, fail, pass, type Seen, unknown, warn } from './rule.ts';
import { byDevice, grants, type SeenAnswer, type SeenGrant } from './token-seen.ts';

/** The requests left after this one; undefined if the answer does not say. */
export function remainingOf(one: SeenAnswer): number | undefined {
  return limitsOf(one).remaining;
}

const limitsOf = ({ exchange }: SeenAnswer) => readLimits(exchange.answer);

/** A proxy judges the same answers again and again. */
const readLimits = memo((answer: HttpAnswer) =>
  readRateLimitHeaders((name) => headerValue(answer.headers, name), 0),
);

/** A first request of a device, one within its window, and one just after it. */
interface Span {
  first: SeenGrant;
  within: SeenGrant;
  after: SeenGrant;
}

const earliestWithinMs = rateLimitWindowMs / 3;
/** Whole seconds may be rounded either way. */
const slackMs = 500;

/** Devices with exactly three requests, so that nothing else is in the window. */
function spans(seen: readonly Seen[]): Span[] {
  return byDevice(grants(seen)).flatMap(([first, within, after, ...more]) => {
    if (first === undefined || within === undefined || after === undefined || more.length > 0) return [];
    const [withinMs, afterMs] = [within, after].map(({ exchange }) => exchange.at - first.exchange.at);
    const isInside = Number(withinMs) >= earliestWithinMs && Number(withinMs) < rateLimitWindowMs - slackMs;
    const isPast = Number(afterMs) > rateLimitWindowMs + slackMs && Number(afterMs) < 1.4 * rateLimitWindowMs;
    return isInside && isPast ? [{ first, within, after }] : [];
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
  const values = `Remaining is ${first}, later ${within}, and ${after} after 60 s`;
  if (within >= first) return warn(`${values}: the allowance refills before 60 s have passed`, evidence);
  if (within < first - 1) return unknown(`${values}: another user of the device`, evidence);
  if (after === limit - 1) return pass(`${values}: it resets 60 s after the first request`, evidence);
  if (after === limit - 2) return pass(`${values}: each request counts for 60 s`, evidence);
  if (after < first) return fail(`${values}: it does not reset`, evidence);
  return unknown(values, evidence);
}
