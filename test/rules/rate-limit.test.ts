import { expect, test } from 'vitest';
import { tokenPath } from '../../src/protocol/paths.ts';
import { secondsText } from '../../src/protocol/time-text.ts';
import { rateLimitRules } from '../../src/rules/rate-limit.ts';
import type { Seen } from '../../src/rules/rule.ts';
import type { TokenExchange } from '../../src/wire/exchange.ts';
import { seenAs } from '../helpers/device-exchanges.ts';
import { answered, epochMs, finding, refused } from '../helpers/service-exchanges.ts';

const v1 = tokenPath('v1');
const epoch = epochMs / 1000;
const [limit, remaining, reset] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
const left = (
  at: number,
  count: number | undefined,
  more: { path?: string; device?: string; totalMs?: number } = {},
) =>
  count === undefined
    ? answered({ at, headers: { [remaining]: undefined }, ...more })
    : answered({ at, remaining: count, ...more });
const resets = (
  value: string,
  more: { headers?: Record<string, string | undefined>; totalMs?: number; remaining?: number } = {},
) => seenAs(answered({ ...more, headers: { [reset]: value, ...more.headers } }));
/** Of a window that had begun before. */
const used = { remaining: 50 };
/** Requests of one device: when, and how many are left. */
const window = (...asked: readonly [at: number, remaining: number | undefined][]) =>
  seenAs(...asked.map(([at, count]) => left(at, count)));
/** So many requests of one device, of which so many are granted; more may follow. */
const burst = (count: number, granted: number, more: readonly Seen[] = [], status = 429) => [
  ...seenAs(
    ...Array.from({ length: count }, (_, index) =>
      index < granted ? answered({ at: index * 10 }) : refused({ at: index * 10, status }),
    ),
  ),
  ...more,
];
const later = (exchange: TokenExchange): Seen[] => [{ id: 'L1', exchange }];
const laterBy = ({ id, exchange }: Seen, ms: number): Seen => ({
  id,
  exchange: exchange.kind === 'token' ? { ...exchange, at: exchange.at + ms } : exchange,
});
const provoked = (seen: readonly Seen[]) => seen.map((one) => ({ ...one, provoked: true }));

const refills = 'the allowance refills before 60 s have passed, or not every token counts';

type Case = [id: string, what: string, found: string | undefined, seen: readonly Seen[]];

const cases: Case[] = [
  ['R23', 'all three', 'pass: all three are present (X1)', seenAs(answered())],
  [
    'R23',
    'one of two answers without two of them',
    `fail: without ${limit}, ${reset} (X2)`,
    seenAs(answered(), answered({ headers: { [limit]: undefined, [reset]: undefined } })),
  ],
  ['R23', 'a refusal', undefined, seenAs(refused())],

  ['R24', 'sixty', `pass: ${limit} is "60" (X1)`, seenAs(answered())],
  [
    'R24',
    'sixty with spaces',
    `pass: ${limit} is " 60 " (X1)`,
    seenAs(answered({ headers: { [limit]: ' 60 ' } })),
  ],
  [
    'R24',
    'another number',
    `fail: ${limit} is "100"; a contract may set another limit (X1)`,
    seenAs(answered({ headers: { [limit]: '100' } })),
  ],
  ['R24', 'no header', undefined, seenAs(answered({ headers: { [limit]: undefined } }))],

  ['R25', 'one less', 'pass: Remaining goes from 59 to 58 (X1 X2)', window([0, 59], [10, 58])],
  ['R25', 'as many', 'fail: Remaining goes from 59 to 59 (X1 X2)', window([0, 59], [10, 59])],
  ['R25', 'more', 'fail: Remaining goes from 58 to 59 (X1 X2)', window([0, 58], [10, 59])],
  [
    'R25',
    'as many after the reset that the first told',
    undefined,
    seenAs(answered({ at: 0, headers: { [reset]: String(epoch + 10) } }), answered({ at: 12_000 })),
  ],
  [
    'R25',
    'as many, with a reset in seconds from now and a clock that is an hour ahead',
    'fail: Remaining goes from 59 to 59 (X1 X2)',
    seenAs(
      ...[0, 10].map((at) =>
        answered({ at, headers: { [reset]: '60', Date: new Date(epochMs + 3_600_000).toUTCString() } }),
      ),
    ),
  ],
  [
    'R25',
    'two that were under way together',
    undefined,
    seenAs(answered({ at: 0, remaining: 58, totalMs: 200 }), answered({ at: 100, remaining: 59 })),
  ],
  [
    'R25',
    'two less',
    'unknown: Remaining goes from 59 to 57: something else also uses this device, or each token counts as more than one (X1 X2)',
    window([0, 59], [10, 57]),
  ],
  [
    'R25',
    'one less at last',
    'pass: Remaining goes from 57 to 56 (X2 X3)',
    window([0, 59], [10, 57], [20, 56]),
  ],
  [
    'R25',
    'one less, and then as many',
    `warn: Remaining goes from 59 to 58, but then it goes from 58 to 58: ${refills} (X1 X2 X3)`,
    window([0, 59], [10, 58], [20, 58]),
  ],
  [
    'R25',
    'one less, and then more',
    `warn: Remaining goes from 59 to 58, but then it goes from 58 to 59: ${refills} (X1 X2 X3)`,
    window([0, 59], [10, 58], [2_000, 59]),
  ],
  [
    'R25',
    'one less, and none left again and again',
    'pass: Remaining goes from 1 to 0 (X2 X3)',
    window([0, 59], [10, 1], [20, 0], [30, 0]),
  ],
  [
    'R25',
    'one less, and as many after the reset that nobody told',
    'pass: Remaining goes from 59 to 58 (X1 X2)',
    seenAs(
      ...(
        [
          [0, 59],
          [10, 58],
          [40_000, 57],
          [61_000, 58],
        ] as const
      ).map(([at, count]) => answered({ at, remaining: count, headers: { [reset]: undefined } })),
    ),
  ],
  [
    'R25',
    'one less, and as many, in a window that had begun before',
    'pass: Remaining goes from 57 to 56 (X1 X2)',
    window([0, 57], [10, 56], [20, 56]),
  ],
  [
    'R25',
    'one less on one path, and as many on the other, which has its own count',
    'pass: Remaining goes from 59 to 58 (X1 X2)',
    seenAs(left(0, 59), left(10, 58), left(20, 59, { path: v1 })),
  ],
  ['R25', 'one request', undefined, window([0, 59])],
  [
    'R25',
    'a word',
    `fail: ${remaining} is "many": not a number of requests (X1)`,
    seenAs(answered({ headers: { [remaining]: 'many' } })),
  ],
  [
    'R25',
    'a negative number beside a right one',
    `fail: ${remaining} is "-2": not a number of requests (X3)`,
    seenAs(left(0, 59), left(10, 58), answered({ at: 20, headers: { [remaining]: '-2' } })),
  ],
  [
    'R25',
    'all of them, and then one less',
    'fail: Remaining is 60 of 60 after a request was granted (X1)',
    window([0, 60], [10, 59]),
  ],
  ['R25', 'no header', undefined, window([0, 59], [10, undefined])],
  ['R25', 'no header at first', undefined, window([0, undefined], [10, 59])],
  ['R25', 'half a minute apart', undefined, window([0, 59], [30_000, 59])],
  [
    'R25',
    'almost half a minute apart',
    'fail: Remaining goes from 59 to 59 (X1 X2)',
    window([0, 59], [29_999, 59]),
  ],
  ['R25', 'two devices', undefined, seenAs(left(0, 59), left(10, 58, { device: 'd2' }))],
  [
    'R25',
    'a refusal between',
    'pass: Remaining goes from 59 to 57 (X1 X3)',
    seenAs(left(0, 59), refused({ at: 5 }), left(10, 57)),
  ],
  [
    'R25',
    'a refusal between, on two paths',
    undefined,
    seenAs(left(0, 59), refused({ at: 5 }), left(10, 57, { path: v1 })),
  ],
  [
    'R25',
    'a count for each path',
    'pass: Remaining goes from 20 to 19 (X1 X3)',
    seenAs(left(0, 20), left(10, 59, { path: v1 }), left(20, 19)),
  ],
  [
    'R25',
    'seen in another order than asked',
    'pass: Remaining goes from 59 to 58 (X2 X1)',
    window([10, 58], [0, 59]),
  ],

  [
    'R26',
    'one window',
    'pass: Remaining goes from 59 to 58 across the two paths (X1 X2)',
    seenAs(left(0, 59), left(10, 58, { path: v1 })),
  ],
  [
    'R26',
    'two windows',
    'fail: Remaining goes from 59 to 59 across the two paths, although it falls on a single path (X1 X2 X3)',
    seenAs(left(0, 59), left(10, 59, { path: v1 }), left(20, 58, { path: v1 })),
  ],
  [
    'R26',
    'no count at all',
    'unknown: Remaining goes from 59 to 59 across the two paths, and does not fall on a single path either (X1 X2)',
    seenAs(left(0, 59), left(10, 59, { path: v1 }), left(20, 59, { path: v1 })),
  ],
  ['R26', 'one path', undefined, window([0, 59], [10, 58])],
  [
    'R26',
    'another request between',
    undefined,
    seenAs(left(0, 59), refused({ at: 5 }), left(10, 58, { path: v1 })),
  ],

  [
    'R27',
    'a count of its own',
    'pass: another device has its own Remaining (X1 X2)',
    seenAs(left(0, 59), left(10, 59, { device: 'd2' })),
  ],
  [
    'R27',
    'one count for two',
    'fail: Remaining goes from 59 to 58 across two devices (X1 X2)',
    seenAs(left(0, 59), left(10, 58, { device: 'd2' })),
  ],
  [
    'R27',
    'a count that does not fall',
    'unknown: Remaining does not fall for a single device either (X1 X2)',
    seenAs(left(0, 59), left(10, 59, { device: 'd2' }), left(20, 59, { device: 'd2' })),
  ],
  [
    'R27',
    'a count that falls for one device too',
    'fail: Remaining goes from 59 to 58 across two devices (X1 X2)',
    seenAs(left(0, 59), left(10, 58, { device: 'd2' }), left(20, 57, { device: 'd2' })),
  ],
  [
    'R27',
    'once by chance',
    'pass: another device has its own Remaining (X1 X2)',
    seenAs(left(0, 59), left(10, 58, { device: 'd2' }), left(20, 9, { device: 'd3' })),
  ],
  ['R27', 'one device', undefined, window([0, 59], [10, 58])],
  [
    'R27',
    'another request between',
    undefined,
    seenAs(left(0, 59), refused({ at: 5 }), left(10, 59, { device: 'd2' })),
  ],

  ['R28', 'in a minute', `pass: resets in 60.0 s ("${epoch + 60}") (X1)`, seenAs(answered())],
  [
    'R28',
    'in milliseconds',
    `pass: resets in 60.0 s ("${epochMs + 60_000}") (X1)`,
    resets(`${epochMs + 60_000}`),
  ],
  ['R28', 'rounded up', `pass: resets in 62.0 s ("${epoch + 62}") (X1)`, resets(`${epoch + 62}`)],
  ['R28', 'too late', `fail: resets in 62.5 s ("${epoch + 62.5}") (X1)`, resets(`${epoch + 62.5}`)],
  ['R28', 'just past', `pass: resets in -2.0 s ("${epoch - 2}") (X1)`, resets(`${epoch - 2}`, used)],
  ['R28', 'long past', `fail: resets in -2.5 s ("${epoch - 2.5}") (X1)`, resets(`${epoch - 2.5}`)],
  [
    'R28',
    'past, as long as the answer took',
    `pass: resets in -4.0 s ("${epoch - 4}") (X1)`,
    resets(`${epoch - 4}`, { totalMs: 2_000, ...used }),
  ],
  ['R28', 'seconds from now', `fail: ${reset} is "60": seconds from now, not a timestamp (X1)`, resets('60')],
  [
    'R28',
    'a fraction',
    `fail: ${reset} is " 59.5 ": seconds from now, not a timestamp (X1)`,
    resets(' 59.5 '),
  ],
  [
    'R28',
    'a number that is a moment',
    'fail: resets in -1700000000.0 s ("100000000") (X1)',
    resets('100000000'),
  ],
  ['R28', 'a word', `fail: ${reset} is "soon": not a timestamp (X1)`, resets('soon')],
  ['R28', 'a number within a word', `fail: ${reset} is "in 60": not a timestamp (X1)`, resets('in 60')],
  ['R28', 'a number with a unit', `fail: ${reset} is "60s": not a timestamp (X1)`, resets('60s')],
  [
    'R28',
    'no Date',
    `unknown: ${reset} is "${epoch + 60}"; the answer has no Date header (X1)`,
    resets(`${epoch + 60}`, { headers: { Date: undefined } }),
  ],
  ['R28', 'no header', undefined, seenAs(answered({ headers: { [reset]: undefined } }))],

  [
    'R28',
    'rounded down, in an answer that took a second',
    `pass: resets in 57.0 s ("${epoch + 57}") (X1)`,
    resets(`${epoch + 57}`, { totalMs: 1_000 }),
  ],
  [
    'R28',
    'too early',
    `fail: resets in 57.9 s ("${epoch + 57.9}") after the first request of a window (X1)`,
    resets(`${epoch + 57.9}`),
  ],
  [
    'R28',
    'a window that had begun',
    `pass: resets in 9.0 s ("${epoch + 9}") (X1)`,
    resets(`${epoch + 9}`, used),
  ],
  [
    'R28',
    'the same window, seen once more',
    `pass: resets in 60.0 s ("${epoch + 60}") (X1 X2)`,
    window([0, 60], [40_000, 59]),
  ],
  [
    'R28',
    'a window that began anew too early',
    `fail: resets in 45.0 s ("${epoch + 85}") after the first request of a window (X3)`,
    seenAs(left(0, 59), left(10, 58), answered({ at: 40_000, headers: { [reset]: `${epoch + 85}` } })),
  ],
  [
    'R28',
    'a full minute',
    `warn: resets in 30.0 s ("${epoch + 60}") after the first request of a window, at a full minute (X1)`,
    window([30_000, 59]),
  ],
  [
    'R28',
    'an allowance that is soon complete',
    `warn: resets in 1.0 s ("${epoch + 1}") after the first request of a window: the allowance refills before 60 s have passed (X1)`,
    resets(`${epoch + 1}`),
  ],

  [
    'R29',
    'all come back together',
    'pass: Remaining is 59, 58 after 40.0 s, and 59 after 61.0 s: the whole allowance came back at once (X1 X2 X3)',
    window([0, 59], [40_000, 58], [61_000, 59]),
  ],
  [
    'R29',
    'each comes back by itself',
    'pass: Remaining is 59, 58 after 40.0 s, and 58 after 61.0 s: the allowance comes back request by request (X1 X2 X3)',
    window([0, 59], [40_000, 58], [61_000, 58]),
  ],
  [
    'R29',
    'none comes back',
    'fail: Remaining is 59, 58 after 40.0 s, and 57 after 61.0 s: it does not reset (X1 X2 X3)',
    window([0, 59], [40_000, 58], [61_000, 57]),
  ],
  [
    'R29',
    'they come back too soon',
    'warn: Remaining is 59, 59 after 40.0 s, and 59 after 61.0 s: the allowance refills before 60 s have passed (X1 X2 X3)',
    window([0, 59], [40_000, 59], [61_000, 59]),
  ],
  [
    'R29',
    'somebody else asks',
    'unknown: Remaining is 59, 57 after 40.0 s, and 59 after 61.0 s: something else also uses this device (X1 X2 X3)',
    window([0, 59], [40_000, 57], [61_000, 59]),
  ],
  [
    'R29',
    'more than there can be',
    'unknown: Remaining is 50 after the first known request: the window had already begun (X1 X2 X3)',
    window([0, 50], [40_000, 49], [61_000, 55]),
  ],
  [
    'R29',
    'as many as at first, and not as many as there can be',
    'unknown: Remaining is 50 after the first known request: the window had already begun (X1 X2 X3)',
    window([0, 50], [40_000, 49], [61_000, 50]),
  ],
  [
    'R29',
    'an answer that does not say',
    'unknown: the answers do not report how many requests are left (X1 X2 X3)',
    window([0, 59], [40_000, undefined], [61_000, 59]),
  ],
  [
    'R29',
    'no limit',
    'unknown: the answers do not report how many requests are left (X1 X2 X3)',
    seenAs(answered({ headers: { [limit]: undefined } }), left(40_000, 58), left(61_000, 59)),
  ],
  [
    'R29',
    'a first request at any time',
    'pass: Remaining is 59, 58 after 40.0 s, and 59 after 61.0 s: the whole allowance came back at once (X1 X2 X3)',
    window([500_000, 59], [540_000, 58], [561_000, 59]),
  ],
  [
    'R29',
    'a last answer that does not say',
    'unknown: the answers do not report how many requests are left (X1 X2 X3)',
    window([0, 59], [40_000, 58], [61_000, undefined]),
  ],
  [
    'R29',
    'a first answer that does not say',
    'unknown: the answers do not report how many requests are left (X1 X2 X3)',
    window([0, undefined], [40_000, 58], [61_000, 59]),
  ],
  [
    'R29',
    'a first request that may have been counted late',
    undefined,
    seenAs(left(0, 59, { totalMs: 900 }), left(40_000, 58), left(60_600, 57)),
  ],
  ['R29', 'one request', undefined, window([0, 59])],
  ['R29', 'two requests', undefined, window([0, 59], [40_000, 58])],
  ['R29', 'four requests', undefined, window([0, 59], [40_000, 58], [61_000, 59], [62_000, 58])],
  [
    'R29',
    'three devices',
    undefined,
    seenAs(left(0, 9), left(4e4, 8, { device: 'b' }), left(61_000, 9, { device: 'c' })),
  ],
  ...(
    [
      [19_999, 61_000, false],
      [20_000, 61_000, true],
      [59_499, 61_000, true],
      [59_500, 61_000, false],
      // From the answer to the first request, which came after 5 ms.
      [40_000, 60_505, false],
      [40_000, 60_506, true],
      [40_000, 84_004, true],
      [40_000, 84_005, false],
    ] as const
  ).map(
    ([within, after, isSpan]): Case => [
      'R29',
      `requests after ${within} and ${after} ms`,
      isSpan
        ? `pass: Remaining is 59, 58 after ${secondsText(within, 1)}, and 59 after ${secondsText(after, 1)}: the whole allowance came back at once (X1 X2 X3)`
        : undefined,
      window([0, 59], [within, 58], [after, 59]),
    ],
  ),

  [
    'R30',
    'sixty',
    'pass: 60 requests were granted, and the next was answered with 429 (X60 X61)',
    burst(61, 60),
  ],
  [
    'R30',
    'sixty, and an error with status 200',
    'pass: 60 requests were granted, and the next was answered with 200 (X60 X61)',
    burst(61, 60, [], 200),
  ],
  ['R30', 'sixty-one', 'fail: 61 requests in one window were granted (X61)', burst(62, 61)],
  [
    'R30',
    'fewer',
    'fail: 40 requests were granted, and the next was answered with 429 (X40 X41)',
    burst(61, 40),
  ],
  [
    'R30',
    'sixty, and no more asked',
    'unknown: 60 requests were granted, and no more were sent (X60)',
    burst(60, 60),
  ],
  [
    'R30',
    'thirty, and no more asked',
    'unknown: 30 requests were granted, and no more were sent (X30)',
    burst(30, 30),
  ],
  [
    'R30',
    'a window that had begun before',
    'unknown: the first known request leaves 49: the window had already begun (X50)',
    burst(51, 50).map((one, at) => ({ ...one, exchange: at === 0 ? left(0, 49) : one.exchange })),
  ],
  ['R30', 'twenty-nine', undefined, burst(29, 29)],
  ['R30', 'twenty-nine, one refused', undefined, burst(29, 28)],
  [
    'R30',
    'a few, each refused as it should be',
    'fail: 0 requests were granted, and the next was answered with 429 (X1)',
    provoked(burst(3, 0)),
  ],
  [
    'R30',
    'a throwaway device that the service does not know',
    'unknown: 0 requests were granted, and the next was answered with 404 ("INVALID_REQUEST: invalid"): that need not be the limit (X1)',
    provoked(burst(1, 0, [], 404)),
  ],
  [
    'R30',
    'trouble after a few',
    'unknown: 29 requests were granted, and the next was answered with 503 ("INVALID_REQUEST: invalid"): that need not be the limit (X29 X30)',
    provoked(burst(30, 29, [], 503)),
  ],
  [
    'R30',
    'another status after thirty',
    'fail: 30 requests were granted, and the next was answered with 403 (X30 X31)',
    provoked(burst(31, 30, [], 403)),
  ],
  [
    'R30',
    'a few, of which one is refused as it should be',
    undefined,
    [...provoked(burst(1, 0)), ...burst(2, 2)],
  ],
  [
    'R30',
    'sixty, begun at any time',
    'pass: 60 requests were granted, and the next was answered with 429 (X60 X61)',
    [...burst(61, 60).map((one) => laterBy(one, 500_000)), ...later(answered({ at: 560_000 }))],
  ],
  ['R30', 'a few that should be refused, and were granted', undefined, provoked(burst(3, 3))],
  [
    'R30',
    'those after the window are of the next',
    'pass: 60 requests were granted, and the next was answered with 429 (X60 X61)',
    burst(61, 60, later(answered({ at: 60_000 }))),
  ],
  [
    'R30',
    'incomplete requests are not counted',
    'pass: 60 requests were granted, and the next was answered with 429 (X60 X61)',
    burst(61, 60, later(refused({ at: 1, asked: '{"deviceId":"d1"}' }))),
  ],

  [
    'R31',
    'granted again',
    'pass: refused, then granted again after the reset (X61 L1)',
    burst(61, 60, later(answered({ at: 60_005 }))),
  ],
  [
    'R31',
    'refused again, with status 200',
    'fail: answered 200 after the reset ("INVALID_REQUEST: invalid") (X61 L1)',
    burst(61, 60, later(refused({ at: 60_005, status: 200 })), 200),
  ],
  [
    'R31',
    'refused again',
    'fail: answered 429 after the reset ("INVALID_REQUEST: invalid") (X61 L1)',
    burst(61, 60, later(refused({ at: 60_005, status: 429 }))),
  ],
  [
    'R31',
    'refused again, by a service that does not know the device',
    'unknown: 0 requests were granted, and the next was answered with 404 ("INVALID_REQUEST: invalid"): that need not be the limit (X1)',
    provoked(burst(1, 0, later(refused({ at: 60_005, status: 404 })), 404)),
  ],
  [
    'R31',
    'granted again, and another device was never refused',
    'pass: refused, then granted again after the reset (X31 X32)',
    [
      ...seenAs(
        ...Array.from({ length: 30 }, (_, index) => answered({ at: index, device: 'd2' })),
        answered({ at: 61_000, device: 'd2' }),
      ).slice(0, 30),
      ...provoked([
        { id: 'X31', exchange: refused({ at: 500, status: 429 }) },
        { id: 'X32', exchange: answered({ at: 60_505 }) },
      ]),
    ],
  ],
  [
    'R31',
    'never refused, and asked again',
    undefined,
    [...burst(60, 60), ...later(refused({ at: 60_005, status: 429 }))],
  ],
  [
    'R31',
    'asked too soon after a first request that may have been counted late',
    undefined,
    burst(61, 60, later(refused({ at: 60_500, status: 429 }))).map((one, index) =>
      index === 0 && one.exchange.kind === 'token'
        ? { ...one, exchange: { ...one.exchange, totalMs: 900 } }
        : one,
    ),
  ],
  ['R31', 'asked too soon', undefined, burst(61, 60, later(answered({ at: 59_999 })))],
  ['R31', 'not asked again', undefined, burst(61, 60)],
  ['R31', 'never refused', undefined, burst(60, 60, later(answered({ at: 60_005 })))],
];

test.each(cases)('%s of %s: %s', (id, _what, found, seen) => {
  expect(finding(rateLimitRules, id, seen)).toBe(found);
});
