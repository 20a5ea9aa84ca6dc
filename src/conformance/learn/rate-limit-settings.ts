import {
  rateLimitHeaderNames,
  rateLimitWindowMs,
  resetFormatOf,
  retryAfterHeaderName,
} from '../../protocol/rate-limit.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { missingHeaders, remainingOf, resetAt, spansWindow } from '../../rules/rate-window.ts';
import {
  deviceOf,
  hasSucceeded,
  type SeenAnswer,
  type SeenGrant,
  serviceTime,
} from '../../rules/token-seen.ts';
import { headerValue } from '../../wire/headers.ts';
import { limitedOf } from './refusal-settings.ts';
import { type Learned, learned, notProbed, quote, type Setting, unlearned } from './setting.ts';
import type { LearnView } from './view.ts';

export const rateLimitSettings: readonly Setting[] = [
  {
    path: 'rateLimit.window',
    steps: ['E3', 'W30', 'W61'],
    how: 'Remaining 30 and 61 s after the first request of a device, and the time of the reset',
    infer: inferWindow,
  },
  notProbed('rateLimit.counts', 'the answers over the limit look the same either way'),
  {
    path: 'rateLimit.countsInvalid',
    steps: ['E2', 'E4', 'E7', 'E10', 'E11'],
    how: 'Remaining before and after the invalid requests that name the device',
    infer: inferCountsInvalid,
  },
  {
    path: 'rateLimit.resetFormat',
    steps: ['E1'],
    how: 'the format of the reset header of E1',
    infer(view) {
      const reset = resetOf(view.answer('E1'));
      if (reset === undefined) return undefined;
      const format = resetFormatOf(reset);
      return format === undefined
        ? unlearned(`the reset is ${quote(reset)}`)
        : learned(format, `the reset is ${quote(reset)}`);
    },
  },
  {
    path: 'rateLimit.headersOn',
    steps: ['E1', 'X'],
    how: 'whether the granted and the limited answers carry the three headers',
    infer(view) {
      const [granted, limited] = [view.answer('E1'), limitedOf(view)].map(hasHeaders);
      if (granted === undefined) return undefined;
      if (granted && limited === undefined) return undefined;
      if (!granted && limited !== true) return unlearned('no answer carries the headers');
      const value = granted ? (limited ? 'all' : 'success') : 'limited';
      return learned(
        value,
        `the answer to E1 ${granted ? 'has' : 'lacks'} them, the answer over the limit ${limited ? 'has' : 'lacks'} them`,
      );
    },
  },
  {
    path: 'rateLimit.headersOnInvalid',
    steps: ['E4', 'E7', 'E10'],
    how: 'whether refused requests that name the device carry the three headers',
    infer(view) {
      const refused = ['E4', 'E7', 'E10']
        .map((id) => view.answer(id))
        .filter((one) => one !== undefined && !hasSucceeded(one));
      const having = refused.map(hasHeaders);
      if (having.length === 0) return undefined;
      if (new Set(having).size > 1) return unlearned('only some of E4, E7 and E10 carry them');
      if (!having[0] && hasHeaders(view.answer('E1')) === false) return unlearned('E1 lacks them too');
      return learned(having[0], `E4, E7 and E10 ${having[0] ? 'have' : 'lack'} them`);
    },
  },
  {
    path: 'rateLimit.retryAfter',
    steps: ['X'],
    how: 'the format of Retry-After over the limit',
    infer(view) {
      const limited = limitedOf(view);
      if (limited === undefined) return undefined;
      const text = headerValue(limited.exchange.answer.headers, retryAfterHeaderName);
      if (text === undefined) return learned('none', 'the request over the limit has no Retry-After');
      return learned(/^\s*\d+\s*$/.test(text) ? 'seconds' : 'http-date', `Retry-After is ${quote(text)}`);
    },
  },
];

function resetOf(one: SeenAnswer | undefined): string | undefined {
  return one && headerValue(one.exchange.answer.headers, rateLimitHeaderNames.reset);
}

function hasHeaders(one: SeenAnswer | undefined): boolean | undefined {
  return one && missingHeaders(one).length === 0;
}

/** When the window resets; undefined if the answer does not tell the service's time. */
function timedReset(one: SeenAnswer | undefined): number | undefined {
  return one === undefined || serviceTime(one) === undefined ? undefined : resetAt(one);
}

/** Whole seconds may be rounded either way, and a `delta` is as old as the answer. */
const slackMs = 1_100;

function isFullMinute(moment: number | undefined): boolean {
  if (moment === undefined) return false;
  const past = moment % rateLimitWindowMs;
  return past < slackMs || past > rateLimitWindowMs - slackMs;
}

/** Whether the window of a first request ends one full window after it. */
function resetsAfterWindow(one: SeenAnswer | undefined): boolean {
  const [reset, now] = [timedReset(one), one && serviceTime(one)];
  if (reset === undefined || now === undefined) return false;
  return Math.abs(reset - now - rateLimitWindowMs) < slackMs;
}

function inferWindow(view: LearnView): Learned | undefined {
  const asked = ['E3', 'W30', 'W61'].flatMap((id) => view.answer(id) ?? []);
  const [first, within, after] = asked.map(remainingOf);
  if (first === undefined || within === undefined || after === undefined) return undefined;
  const [, withinMs = 0, afterMs = 0] = asked.map(
    ({ exchange }) => exchange.at - (asked[0]?.exchange.at ?? 0),
  );
  const values = `Remaining ${first}, ${within} after ${secondsText(withinMs, 0)}, ${after} after ${secondsText(afterMs, 0)}`;
  const firstMs = asked[0]?.exchange.totalMs ?? 0;
  if (!spansWindow(withinMs, afterMs - firstMs))
    return unlearned(`${values}: they came too late to show the window`);
  const starts = ['E1', 'E3', 'W61'].map((id) => view.answer(id));
  // A bucket that is used at a full minute is also full again at a full minute; half a minute later it is not.
  const isMinute = [...starts, view.answer('W30')].every((one) => isFullMinute(timedReset(one)));
  const isOwn = starts.every(resetsAfterWindow);
  if (isMinute && !isOwn) return learned('calendar-minute', `${values}; each reset is at a full minute`);
  if (within >= first) return learned('token-bucket', values);
  if (within !== first - 1) return unlearned(`${values}: something else also uses this device`);
  if (after === first && isMinute)
    return unlearned(`${values}; the windows end at full minutes, perhaps by chance`);
  if (after === first) return learned('first-request', values);
  return after === first - 1 ? learned('sliding', values) : unlearned(values);
}

/** The invalid requests that name the device of E1 and E2. */
const naming = ['E4', 'E7', 'E10'] as const;

function inferCountsInvalid(view: LearnView): Learned | undefined {
  const [before, after] = ['E2', 'E11'].map((id) => view.answer(id));
  const [left, then] = [before, after].map((one) => one && remainingOf(one));
  if (before === undefined || after === undefined || left === undefined || then === undefined)
    return undefined;
  if (isFullMinute(timedReset(before)) && timedReset(before) !== timedReset(after))
    return unlearned('the window ended in between');
  const granted = view.grants.filter((one) => isBetween(one, before, after)).length;
  const counted = left - then - granted;
  const asked = naming.filter((id) => view.answer(id) !== undefined).length;
  const values = `Remaining ${left} at E2, ${then} at E11, with ${granted} granted in between`;
  if (counted === 0) return learned(false, values);
  return counted === asked ? learned(true, values) : unlearned(values);
}

/** Whether a token was granted to the device after the first request, up to the second. */
function isBetween(one: SeenGrant, before: SeenAnswer, after: SeenAnswer): boolean {
  const { at } = one.exchange;
  return deviceOf(one) === deviceOf(after) && at > before.exchange.at && at <= after.exchange.at;
}
