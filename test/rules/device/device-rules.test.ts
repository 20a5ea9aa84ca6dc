import { describe, expect, test } from 'vitest';
import { deviceRules } from '../../../src/rules/device/catalogue.ts';
import type { Seen, Verdict } from '../../../src/rules/rule.ts';
import {
  asks,
  confirms,
  connects,
  jwt,
  presents,
  seenAs,
  speaks,
  toneFrame,
} from '../../helpers/device-exchanges.ts';

function judge(id: string, seen: readonly Seen[]) {
  return deviceRules.find((rule) => rule.id === id)?.judge(seen);
}

const [one, two] = [jwt('one'), jwt('two')];
const json = [['Content-Type', 'application/json']] as const;
const limited = (at: number, answerHeaders: readonly (readonly [string, string])[] = []) =>
  asks({ at, status: 429, answerHeaders });
const live = (token: string, at: number, endAt?: number, by: 'device' | 'service' = 'service', code = 1011) =>
  connects({
    at,
    messages: [presents(token, at), confirms(at + 1)],
    ...(endAt === undefined ? {} : { end: { at: endAt, by, code } }),
  });
const refused = (token: string, at: number) =>
  connects({ at, messages: [presents(token, at)], end: { at: at + 5, by: 'service', code: 4401 } });

type Case = [id: string, what: string, verdict: Verdict | undefined, says: RegExp | undefined, seen: Seen[]];

const cases: Case[] = [
  ['D1', 'a request as specified', 'pass', undefined, seenAs(asks({ token: one }))],
  ['D1', 'a GET', 'fail', /asks with GET/, seenAs(asks({ method: 'GET' }))],
  ['D1', 'a preflight of a browser', undefined, undefined, seenAs(asks({ method: 'OPTIONS' }))],
  [
    'D1',
    'a form',
    'fail',
    /Content-Type is "application\/x-www/,
    seenAs(asks({ headers: [['content-type', 'application/x-www-form-urlencoded']] })),
  ],
  ['D1', 'no content type', 'fail', /Content-Type is missing/, seenAs(asks({ headers: [] }))],
  ['D1', 'no JSON', 'fail', /not a JSON object/, seenAs(asks({ headers: json, body: 'apiKey=1' }))],
  ['D1', 'no device', 'fail', /deviceId is missing/, seenAs(asks({ body: '{"apiKey":"[redacted]"}' }))],
  ['D1', 'an empty key', 'fail', /apiKey is ""/, seenAs(asks({ body: '{"apiKey":"","deviceId":"d"}' }))],
  ['D2', 'the token as text', 'pass', undefined, seenAs(asks({ token: one }), live(one, 1))],
  ['D2', 'a token of elsewhere', 'pass', undefined, seenAs(live(one, 1))],
  [
    'D2',
    'the token in binary',
    'fail',
    /binary/,
    seenAs(connects({ messages: [presents(one, 1, 'binary')] })),
  ],
  [
    'D2',
    'the token in quotes',
    'fail',
    /2 more bytes/,
    seenAs(asks({ token: one }), connects({ messages: [presents(`"${one}"`, 1)] })),
  ],
  [
    'D2',
    'Bearer before it',
    'fail',
    /Bearer/,
    seenAs(asks({ token: one }), connects({ messages: [presents(`Bearer ${one}`, 1)] })),
  ],
  [
    'D2',
    'audio before it',
    'fail',
    /binary of 640 bytes/,
    seenAs(connects({ messages: [...speaks(1), presents(one, 2)] })),
  ],
  [
    'D2',
    'nothing at all',
    'fail',
    /presented no JWT/,
    seenAs(connects({ end: { at: 5_000, by: 'service', code: 4408 } })),
  ],
  [
    'D3',
    'a token for each connection',
    'pass',
    /2 connections/,
    seenAs(asks({ token: one }), live(one, 1, 9), asks({ at: 10, token: two }), live(two, 11)),
  ],
  [
    'D3',
    'one token for two',
    'fail',
    /\(jti one\)/,
    seenAs(asks({ token: one }), live(one, 1, 9), live(one, 11)),
  ],
  ['D3', 'a token that lay about', 'fail', /30\.0 s after/, seenAs(asks({ token: one }), live(one, 30_000))],
  [
    'D3',
    'a refused token shown again, which D8 is about',
    'pass',
    undefined,
    seenAs(asks({ token: one }), refused(one, 1), refused(one, 20)),
  ],
  [
    'D4',
    'audio after the confirmation',
    'pass',
    undefined,
    seenAs(connects({ messages: [presents(one), confirms(5), ...speaks(6)] })),
  ],
  [
    'D4',
    'audio before it',
    'fail',
    /before the confirmation/,
    seenAs(connects({ messages: [presents(one), ...speaks(3), confirms(5)] })),
  ],
  [
    'D4',
    'audio without it',
    'fail',
    /never confirmed/,
    seenAs(connects({ messages: [presents(one), ...speaks(3)] })),
  ],
  [
    'D5',
    'a tone in real time',
    'pass',
    /1 × real time/,
    seenAs(connects({ messages: speaks(0, { ms: 4_000 }) })),
  ],
  ['D5', 'too little', 'unknown', /too little/, seenAs(connects({ messages: speaks(0, { ms: 500 }) }))],
  [
    'D5',
    'twice as fast',
    'fail',
    /× real time/,
    seenAs(connects({ messages: speaks(0, { ms: 4_000, everyMs: 10 }) })),
  ],
  [
    'D5',
    'all at once',
    'fail',
    /came within/,
    seenAs(connects({ messages: speaks(0, { ms: 1_000, everyMs: 1 }) })),
  ],
  [
    'D5',
    'half a second of audio at once, each half second',
    'fail',
    /came in bursts/,
    seenAs(
      connects({
        messages: Array.from({ length: 10 }, (_, burst) =>
          speaks(burst * 500, { ms: 500 }).map((message) => ({ ...message, at: burst * 500 + 0.01 })),
        ).flat(),
      }),
    ),
  ],
  [
    'D5',
    'half samples',
    'fail',
    /whole samples/,
    seenAs(
      connects({ messages: speaks(0, { ms: 4_000, frame: (index) => toneFrame(index).subarray(0, 639) }) }),
    ),
  ],
  [
    'D5',
    'silence',
    'warn',
    /silence/,
    seenAs(connects({ messages: speaks(0, { ms: 8_000, frame: () => Buffer.alloc(640) }) })),
  ],
  [
    'D6',
    'it waits as told',
    'pass',
    /Retry-After said 2\.0 s/,
    seenAs(limited(0, [['Retry-After', '2']]), asks({ at: 2_100, token: one })),
  ],
  [
    'D6',
    'it does not wait',
    'fail',
    /in 0\.3 s; Retry-After said 12\.0 s/,
    seenAs(limited(0, [['Retry-After', '12']]), asks({ at: 300, token: one })),
  ],
  [
    'D6',
    'it waits for the reset',
    'pass',
    /X-RateLimit-Reset/,
    seenAs(limited(0, [['X-RateLimit-Reset', '3']]), asks({ at: 3_000, token: one })),
  ],
  [
    'D6',
    'waits that grow',
    'pass',
    /1\.0 s, 2\.0 s, 4\.0 s/,
    seenAs(...[0, 1_000, 3_000, 7_000].map((at) => limited(at))),
  ],
  [
    'D6',
    'waits that do not',
    'fail',
    /do not grow/,
    seenAs(...[0, 2_000, 4_000, 6_000].map((at) => limited(at))),
  ],
  [
    'D6',
    'a storm',
    'fail',
    /7 requests in 0\.6 s/,
    seenAs(...Array.from({ length: 9 }, (_, index) => limited(index * 100))),
  ],
  ['D6', 'it gives up', 'unknown', /did not ask again/, seenAs(limited(0))],
  ['D7', 'it does not connect', 'pass', /after 401 it did not connect/, seenAs(asks())],
  ['D7', 'it connects anyway', 'fail', /connected after 401/, seenAs(asks(), connects({ at: 5 }))],
  [
    'D7',
    'it connects without a token',
    'fail',
    /200 without a token/,
    seenAs(asks({ status: 200 }), connects({ at: 5 })),
  ],
  [
    'D7',
    'a storm',
    'fail',
    /7 requests in 0\.6 s/,
    seenAs(...Array.from({ length: 7 }, (_, index) => asks({ at: index * 100 }))),
  ],
  [
    'D7',
    'it asks again, then connects',
    'pass',
    /asked again in 1\.0 s/,
    seenAs(asks(), asks({ at: 1_000, token: one }), live(one, 1_001)),
  ],
  [
    'D8',
    'it asks for a new one',
    'pass',
    /new token after 0\.5 s/,
    seenAs(asks({ token: one }), refused(one, 0), asks({ at: 505, token: two }), live(two, 506)),
  ],
  [
    'D8',
    'it shows the old one again',
    'fail',
    /presented again \(jti one\)/,
    seenAs(asks({ token: one }), refused(one, 0), refused(one, 100)),
  ],
  [
    'D8',
    'it does not come back',
    'unknown',
    /did not come back/,
    seenAs(asks({ token: one }), refused(one, 0)),
  ],
  [
    'D9',
    'it comes back',
    'pass',
    /closed with 1011, it came back after 1\.0 s/,
    seenAs(asks({ token: one }), live(one, 1, 100), asks({ at: 1_100, token: two })),
  ],
  ['D9', 'it does not', 'unknown', /did not come back/, seenAs(asks({ token: one }), live(one, 1, 100))],
  [
    'D9',
    'it comes back at once, again and again',
    'fail',
    /7 attempts in/,
    seenAs(
      ...Array.from({ length: 8 }, (_, index) => [
        asks({ at: index * 50, token: jwt(`t${index}`) }),
        live(jwt(`t${index}`), index * 50 + 1, index * 50 + 40),
      ]).flat(),
    ),
  ],
  [
    'D9',
    'at intervals that do not grow',
    'fail',
    /do not grow/,
    seenAs(
      ...Array.from({ length: 5 }, (_, index) => [
        asks({ at: index * 2_000, token: jwt(`t${index}`) }),
        live(jwt(`t${index}`), index * 2_000 + 1, index * 2_000 + 40),
      ]).flat(),
    ),
  ],
  ['D13', 'a clean close', 'pass', undefined, seenAs(live(one, 0, 10, 'device', 1000))],
  ['D13', 'a close without a code', 'fail', /without a code/, seenAs(live(one, 0, 10, 'device', 1005))],
  ['D13', 'a cut', 'fail', /cut the connection/, seenAs(live(one, 0, 10, 'device', 1006))],
  [
    'D13',
    'eleven at once',
    'fail',
    /11 connections/,
    seenAs(...Array.from({ length: 11 }, (_, index) => live(jwt(`t${index}`), index))),
  ],
];

describe('a rule about devices', () => {
  test.each(cases)('%s: %s', (id, _what, verdict, says, seen) => {
    const finding = judge(id, seen);
    expect(finding?.verdict, finding?.message).toBe(verdict);
    if (says !== undefined) expect(finding?.message).toMatch(says);
  });

  test('each one has a case that passes and one that does not', () => {
    const with_ = (verdict: Verdict) => new Set(cases.filter((one) => one[2] === verdict).map(([id]) => id));
    const ids = deviceRules.map(({ id }) => id);
    expect(ids.filter((id) => !with_('pass').has(id))).toEqual([]);
    expect(ids.filter((id) => !with_('fail').has(id))).toEqual([]);
  });

  test.each(deviceRules)('$id says nothing where there is nothing to see', ({ judge }) => {
    expect(judge([])).toBeUndefined();
  });
});
