import { expect, test } from 'vitest';
import { expiryRules, reuseRule } from '../../src/rules/expiry.ts';
import type { Seen } from '../../src/rules/rule.ts';
import { confirms, connects, presents, seenAs } from '../helpers/device-exchanges.ts';
import { answered, finding, serviceToken } from '../helpers/service-exchanges.ts';

/** A token granted at 0 and presented at this age; refused with 4401 unless it is confirmed. */
function shown(ageMs: number, accepted: boolean, by: 'device' | 'service' = 'service'): Seen[] {
  const token = serviceToken(ageMs);
  const messages = [presents(token, ageMs), ...(accepted ? [confirms(ageMs + 1)] : [])];
  const end = accepted ? {} : { end: { at: ageMs + 2, by, code: 4401 } };
  return seenAs(answered({ token }), connects({ at: ageMs, messages, ...end })).map((one) => ({
    ...one,
    id: one.exchange.kind === 'token' ? `E${ageMs}` : `S${ageMs}`,
  }));
}

const fresh = shown(5, true);

type Case = [id: string, what: string, found: string | undefined, seen: readonly Seen[]];

const cases: Case[] = [
  ['R40', 'accepted late', 'pass: accepted after 58.4 s (S58400)', shown(58_400, true)],
  ['R40', 'accepted after half a minute', 'pass: accepted after 30.0 s (S30000)', shown(30_000, true)],
  ['R40', 'accepted earlier', undefined, shown(29_999, true)],
  ['R40', 'refused just before its end', undefined, [...fresh, ...shown(58_500, false)]],
  [
    'R40',
    'refused late',
    'fail: not accepted after 58.4 s: closed with 4401 (S58400)',
    [...fresh, ...shown(58_400, false)],
  ],
  [
    'R40',
    'refused late, accepted earlier',
    'fail: not accepted after 50.0 s: closed with 4401 (S50000)',
    [...fresh, ...shown(40_000, true), ...shown(50_000, false)],
  ],
  [
    'R40',
    'given up late',
    'unknown: after 50.0 s: no confirmation arrived (S50000)',
    [...fresh, ...shown(50_000, false, 'device')],
  ],
  [
    'R40',
    'refused late, and at once too',
    'unknown: no token is accepted, fresh or not; after 50.0 s: closed with 4401 (S50000)',
    [...shown(5, false), ...shown(50_000, false)],
  ],

  ['R41', 'refused', 'pass: refused after 61.5 s (S61500)', [...fresh, ...shown(61_500, false)]],
  ['R41', 'presented earlier', undefined, [...fresh, ...shown(61_499, true)]],
  [
    'R41',
    'refused, as every token is',
    'unknown: no token is accepted, fresh or not (S62000)',
    [...shown(5, false), ...shown(62_000, false)],
  ],
  [
    'R41',
    'accepted, and refused later',
    'observed: a leeway: accepted after 70.0 s, refused after 95.0 s (S70000 S95000)',
    [...fresh, ...shown(70_000, true), ...shown(95_000, false)],
  ],
  [
    'R41',
    'accepted',
    'observed: a leeway: accepted after 118.4 s (S118400)',
    [...fresh, ...shown(118_400, true)],
  ],
  [
    'R41',
    'accepted long after its end',
    'fail: still accepted after 118.5 s (S70000 S118500)',
    [...fresh, ...shown(70_000, true), ...shown(118_500, true)],
  ],
];

test.each(cases)('%s of a token that is %s: %s', (id, _what, found, seen) => {
  expect(finding(expiryRules, id, seen)).toBe(found);
});

/** A token whose stream lasts until `until`, and is presented again at these times, with or without success. */
function used(
  until: number | undefined,
  again: readonly (readonly [at: number, accepted: boolean])[],
): Seen[] {
  const token = serviceToken();
  const stream = (at: number, accepted: boolean, end: number | undefined) =>
    connects({
      at,
      messages: [presents(token, at), ...(accepted ? [confirms(at + 1)] : [])],
      ...(end === undefined ? {} : { end: { at: end, by: accepted ? 'device' : 'service', code: 4401 } }),
    });
  return seenAs(
    answered({ token }),
    stream(10, true, until),
    ...again.map(([at, accepted]) => stream(at, accepted, accepted ? undefined : at + 5)),
  );
}

test.each<[what: string, found: string | undefined, seen: readonly Seen[]]>([
  ['once', undefined, used(undefined, [])],
  ['again, and refused', 'refused after the first stream has ended', used(100, [[200, false]])],
  ['again, and accepted', 'accepted after the first stream has ended', used(100, [[200, true]])],
  ['twice at a time', 'refused while the first stream is open', used(undefined, [[200, false]])],
  [
    'at both times',
    'accepted after the first stream has ended, and while the first stream is open',
    used(150, [
      [100, true],
      [200, true],
    ]),
  ],
  [
    'at both times with different success',
    'refused after the first stream has ended, accepted while the first stream is open',
    used(150, [
      [100, true],
      [200, false],
    ]),
  ],
  ['again after its end', undefined, used(100, [[60_000, false]])],
])('R45 of a token that is used %s: %s', (_what, found, seen) => {
  const told = finding([reuseRule], 'R45', seen)?.replace(/ \(.*/, '');
  expect(told).toBe(found === undefined ? undefined : `observed: a second use is ${found}`);
});
