import { isRecord } from '../../protocol/error-body.ts';
import { tokenPath } from '../../protocol/paths.ts';
import {
  earlyRetryMs,
  rateLimitHeaderNames,
  rateLimitWindowMs,
  readMoment,
  retryAfterHeaderName,
} from '../../protocol/rate-limit.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { jsonMediaType } from '../../protocol/token-request.ts';
import { headerValue } from '../../wire/headers.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, show, unknown } from '../rule.ts';
import type { SeenStream } from '../stream-seen.ts';
import { isGranted, mediaTypeOf, requestFields, type SeenToken, serviceTime } from '../token-seen.ts';
import { findStorm, growsApart, splitRuns, waitsText } from './backoff.ts';
import { answeredAt, connections, deviceRequests } from './device-seen.ts';

const section = `POST ${tokenPath()}`;

/** How a device requests tokens. */
export const requestRules: readonly Rule[] = [
  {
    id: 'D1',
    section,
    title: 'requests a token as specified',
    says: 'POST, Content-Type: application/json; JSON object with apiKey (string, required) and deviceId (string, required).',
    judge: (seen) => mostSevere(deviceRequests(seen).map(judgeRequest)),
  },
  {
    id: 'D6',
    section: 'Limits',
    title: 'backs off when rate limited',
    says: 'Clients are advised to retry rate-limited token requests with exponential backoff.',
    judge: judgeLimited,
  },
  {
    id: 'D7',
    section: 'Errors',
    title: 'treats a refused token request as a refusal',
    says: 'A client treats any non-200 token response as an authentication failure.',
    judge: judgeRefused,
  },
];

function judgeRequest(one: SeenToken): Finding {
  const { method, headers } = one.exchange.request;
  if (method !== 'POST') return fail(`it uses ${method}, expected POST`, one);
  const type = mediaTypeOf({ headers });
  if (type !== jsonMediaType) return fail(`Content-Type is ${show(type)}, expected ${jsonMediaType}`, one);
  const fields = requestFields(one);
  if (fields === undefined) return fail('the body is not a JSON object', one);
  const wrong = ['apiKey', 'deviceId'].find(
    (name) => typeof fields[name] !== 'string' || fields[name] === '',
  );
  if (wrong === undefined) return pass('POST, JSON, both fields', one);
  const value = fields[wrong];
  // What is there instead of a key may hold the key.
  const shown = wrong === 'apiKey' ? (kindOf(value) ?? show(value)) : show(value);
  return fail(
    `${wrong} is ${value === undefined ? 'missing' : `${shown}, expected a string that is not empty`}`,
    one,
  );
}

/** The kind of a value that may hold a secret. */
function kindOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'an object';
  return typeof value === 'number' ? 'a number' : undefined;
}

const rateLimited = 429;

function judgeLimited(seen: readonly Seen[]): Finding | undefined {
  const asked = deviceRequests(seen);
  const limited = asked.filter(({ exchange }) => exchange.answer?.status === rateLimited);
  const [first] = limited;
  if (first === undefined) return undefined;
  // A request that was already under way is not a reaction to the refusal.
  const nextAfter = (one: SeenToken) =>
    asked.slice(asked.indexOf(one) + 1).find(({ exchange }) => exchange.at >= answeredAt(one));
  const waits = limited.map((one) => judgeWait(one, nextAfter(one)));
  const timesOf = (run: readonly SeenToken[]) =>
    [...run, nextAfter(run.at(-1) ?? first)].flatMap((one) => one?.exchange.at ?? []);
  const spread = runsOf(limited, asked).map((run) => judgeSpread(run, timesOf(run)));
  return mostSevere([judgeStorm(limited, timesOf(limited)) ?? mostSevere(spread), ...waits]);
}

/** Refusals that follow each other. After a grant, or a whole window of the limit, a refusal is a new one. */
function runsOf(limited: readonly SeenToken[], asked: readonly SeenToken[]) {
  return splitRuns(
    limited,
    (one, before) =>
      one.exchange.at - before.exchange.at >= rateLimitWindowMs ||
      asked.slice(asked.indexOf(before), asked.indexOf(one)).some(isGranted),
  );
}

function judgeStorm(limited: readonly SeenToken[], times: readonly number[]): Finding | undefined {
  const storm = findStorm(times);
  if (storm === undefined) return undefined;
  const { attempts, ms } = storm;
  return fail(`${attempts} requests in ${secondsText(ms, 1)}, while it was rate limited`, limited);
}

/** The time between a refusal and the next request, against what the refusal said. */
function judgeWait(one: SeenToken, next: SeenToken | undefined): Finding {
  const requested = requestedWait(one);
  if (next === undefined) return unknown(`it did not try again after ${rateLimited}`, one);
  const waitedMs = next.exchange.at - answeredAt(one);
  const waited = `it tried again ${secondsText(waitedMs, 1)} after ${rateLimited}`;
  if (requested === undefined) return pass(waited, [one, next]);
  const text = `${waited}; ${requested.name} said ${secondsText(requested.ms, 1)}`;
  const isTooEarly = waitedMs < requested.ms - requested.earlyMs - earlyRetryMs;
  return isTooEarly ? fail(text, [one, next]) : pass(text, [one, next]);
}

/** `Date` has whole seconds: the service may have answered up to this much later. */
const dateStepMs = 1_000;

/** How long a refusal tells the device to wait. `earlyMs`: by how much that may be too long, because it was measured from a `Date`. */
function requestedWait(one: SeenToken) {
  const { answer, wallAt, totalMs } = one.exchange;
  if (answer === undefined) return undefined;
  // A moment is in the time of the service, and our clock may be wrong.
  const theirs = serviceTime({ ...one, exchange: { ...one.exchange, answer } });
  const nowMs = theirs ?? wallAt + totalMs;
  // A reset has whole seconds, rounded up; Retry-After is more exact.
  for (const name of [retryAfterHeaderName, rateLimitHeaderNames.reset]) {
    const value = headerValue(answer.headers, name);
    const at = readMoment(value, nowMs);
    if (at === undefined) continue;
    const isMoment = at === readMoment(value, nowMs + 1);
    return { name, ms: at - nowMs, earlyMs: isMoment && theirs !== undefined ? dateStepMs : 0 };
  }
  return undefined;
}

/** Whether the requests spread out, if no refusal said how long to wait. */
function judgeSpread(limited: readonly SeenToken[], times: readonly number[]): Finding | undefined {
  if (limited.some((one) => requestedWait(one) !== undefined)) return undefined;
  const grows = growsApart(times);
  if (grows === undefined) return undefined;
  const waits = `it waited ${waitsText(times)}`;
  return grows ? pass(waits, limited) : fail(`${waits}: the waits do not grow`, limited);
}

/** Refusals of any other kind. */
function judgeRefused(seen: readonly Seen[]): Finding | undefined {
  const asked = deviceRequests(seen);
  const refused = asked.filter((one) => !isGranted(one) && one.exchange.answer?.status !== rateLimited);
  const [first] = refused;
  if (first === undefined) return undefined;
  const connected = tokenlessConnection(asked, connections(seen));
  if (connected !== undefined) return connected;
  const storm = findStorm(refused.map(({ exchange }) => exchange.at));
  if (storm !== undefined)
    return fail(`${storm.attempts} requests in ${secondsText(storm.ms, 1)}, all of them refused`, refused);
  const next = asked[asked.indexOf(first) + 1];
  const after = `after ${answerText(first)}`;
  if (next === undefined) return pass(`it did not connect ${after}`, refused);
  const waited = secondsText(next.exchange.at - answeredAt(first), 1);
  return pass(`it tried again ${waited} ${after}`, refused);
}

/** A connection that follows a refusal, with no token to present. */
function tokenlessConnection(
  asked: readonly SeenToken[],
  opened: readonly SeenStream[],
): Finding | undefined {
  const granted = asked.filter(isGranted);
  for (const [index, stream] of opened.entries()) {
    const { at } = stream.exchange.upgrade;
    const last = asked.findLast((one) => answeredAt(one) <= at);
    const hasToken = granted.filter((one) => answeredAt(one) <= at).length > index;
    if (last !== undefined && !isGranted(last) && !hasToken)
      return fail(`it connected after ${answerText(last)}`, [last, stream]);
  }
  return undefined;
}

function answerText({ exchange: { answer } }: SeenToken): string {
  if (answer === undefined) return 'a request without an answer';
  return answer.status === 200 ? '200 without a token' : String(answer.status);
}
