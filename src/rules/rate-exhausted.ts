import { rateLimitWindowMs, tokenRequestsPerWindow } from '../protocol/rate-limit.ts';
import { type Finding, fail, pass, type Seen, unknown } from './rule.ts';
import { byDevice, isProper, isSuccess, type SeenAnswer, tokenAnswers } from './token-seen.ts';

/** The requests of one device, in their order, from the first of a window on. */
interface Burst {
  granted: SeenAnswer[];
  /** The first that was refused. */
  refused: SeenAnswer | undefined;
  /** Requests after the window of the first had passed. */
  later: SeenAnswer[];
}

/** Fewer than this in a window are no attempt to reach the limit. */
const fewest = tokenRequestsPerWindow / 2;

function bursts(seen: readonly Seen[]): Burst[] {
  return byDevice(tokenAnswers(seen).filter(isProper))
    .filter((own) => own.length >= fewest || own.every(({ provoked }) => provoked === true))
    .map((own) => {
      const start = own[0]?.exchange.at ?? 0;
      const within = own.filter(({ exchange }) => exchange.at - start < rateLimitWindowMs);
      const end = within.findIndex((one) => !isSuccess(one));
      return {
        granted: end < 0 ? within : within.slice(0, end),
        refused: end < 0 ? undefined : within[end],
        later: own.slice(within.length),
      };
    })
    .filter(({ granted, refused }) => granted.length >= fewest || refused !== undefined);
}

/** 60 requests of a window pass, and the 61st does not. */
export function judgeExhaustion(seen: readonly Seen[]): Finding | undefined {
  const [burst] = bursts(seen);
  if (burst === undefined) return undefined;
  const { granted, refused } = burst;
  const count = granted.length;
  const last = granted.slice(-1);
  if (count > tokenRequestsPerWindow) return fail(`${count} requests of one window were granted`, last);
  if (refused === undefined) return unknown(`${count} requests were granted, and no more was asked`, last);
  const evidence = [...last, refused];
  const message = `${count} requests were granted, and the next answered ${refused.exchange.answer.status}`;
  return count === tokenRequestsPerWindow ? pass(message, evidence) : fail(message, evidence);
}

/** After the window has passed, requests are granted again. */
export function judgeReset(seen: readonly Seen[]): Finding | undefined {
  const burst = bursts(seen).find(({ refused }) => refused !== undefined);
  const [first] = burst?.later ?? [];
  if (burst?.refused === undefined || first === undefined) return undefined;
  const evidence = [burst.refused, first];
  const { status } = first.exchange.answer;
  if (isSuccess(first)) return pass('refused, and granted again after the reset', evidence);
  return fail(`answered ${status} after the reset`, evidence);
}
