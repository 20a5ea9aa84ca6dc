import { expect, test } from 'vitest';
import { expiryRules } from '../../src/rules/expiry.ts';
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
    'unknown: after 50.0 s: no confirmation came (S50000)',
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
