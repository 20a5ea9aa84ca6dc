import { expect, test } from 'vitest';
import { claimRules } from '../../src/rules/claims.ts';
import type { Seen } from '../../src/rules/rule.ts';
import { seenAs } from '../helpers/device-exchanges.ts';
import { answered, epochMs, finding, serviceToken } from '../helpers/service-exchanges.ts';

const iat = epochMs / 1000;
const signed = (signature: Seen['signature']) => seenAs(answered()).map((one) => ({ ...one, signature }));
/** A token of which only one part can be read. */
function half(part: 'header' | 'claims'): Seen[] {
  const exchange = answered();
  const granted = exchange.granted && { ...exchange.granted, [part]: undefined };
  return [{ id: 'X1', exchange: { ...exchange, granted } }];
}
const noJwt = seenAs(answered({ token: 'opaque' }));

type Case = [id: string, what: string, found: string | undefined, seen: readonly Seen[]];

const cases: Case[] = [
  ['R9', 'a JWT', 'pass: a JWT, signed with "HS256" (X1)', seenAs(answered())],
  ['R9', 'another text', 'fail: the token is not three base64url parts that contain JSON (X1)', noJwt],
  ...(['header', 'claims'] as const).map(
    (part): Case => [
      'R9',
      `one with a bad ${part}`,
      'fail: the token is not three base64url parts that contain JSON (X1)',
      half(part),
    ],
  ),
  ['R9', 'a verified one', 'pass: a JWT, verified with the published key (X1)', signed('valid')],
  [
    'R9',
    'one that no key verifies',
    'fail: no published key verifies the token: wrong key (X1)',
    signed({ refused: 'wrong key' }),
  ],
  ...(
    [
      ['padding', '=', 'its parts are padded with ='],
      ['a plus', '+', 'its parts are base64 with + and /'],
      ['a slash', '/', 'its parts are base64 with + and /'],
    ] as const
  ).map(
    ([what, more, flaw]): Case => [
      'R9',
      `one with ${what}`,
      `fail: the token is not three base64url parts: ${flaw} (X1)`,
      seenAs(answered({ token: serviceToken() + more })),
    ],
  ),
  ['R9', 'nothing', undefined, []],

  ['R10', 'the device', 'pass: sub is the device of the request (X1)', seenAs(answered())],
  [
    'R10',
    'another device',
    'fail: sub is "d2", the device is "d1" (X1)',
    seenAs(answered({ claims: { sub: 'd2' } })),
  ],
  [
    'R10',
    'no sub',
    'fail: sub is missing, the device is "d1" (X1)',
    seenAs(answered({ claims: { sub: undefined } })),
  ],
  ['R10', 'a request without a device', undefined, seenAs(answered({ asked: '{"apiKey":"k"}' }))],
  ['R10', 'no JWT', undefined, noJwt],

  ['R11', 'the moment', 'pass: iat matches the time of the answer (X1)', seenAs(answered())],
  [
    'R11',
    'a second later',
    'pass: iat matches the time of the answer (X1)',
    seenAs(answered({ claims: { iat: iat + 1 } })),
  ],
  [
    'R11',
    'two seconds later',
    `fail: iat is ${iat + 2}, 2.0 s off the service’s time (X1)`,
    seenAs(answered({ claims: { iat: iat + 2 } })),
  ],
  [
    'R11',
    'before the answer, as long as it took',
    'pass: iat matches the time of the answer (X1)',
    seenAs(answered({ claims: { iat: iat - 5 }, totalMs: 3_000 })),
  ],
  [
    'R11',
    'longer before the answer than it took',
    `fail: iat is ${iat - 5}, -5.0 s off the service’s time (X1)`,
    seenAs(answered({ claims: { iat: iat - 5 }, totalMs: 2_999 })),
  ],
  [
    'R11',
    'no Date',
    `unknown: iat is ${iat}; the answer has no Date header (X1)`,
    seenAs(answered({ headers: { Date: undefined } })),
  ],
  ['R11', 'a text', 'fail: iat is "now" (X1)', seenAs(answered({ claims: { iat: 'now' } }))],
  [
    'R11',
    'by the service’s own clock',
    `fail: iat is ${iat}, -100.0 s off the service’s time (X1)`,
    seenAs(answered({ totalMs: 50 })).map((one) => ({ ...one, serviceAt: epochMs + 99_950 })),
  ],

  ['R12', '60 s', 'pass: exp is 60 s after iat (X1)', seenAs(answered())],
  ['R12', '61 s', 'fail: exp is 61 s after iat (X1)', seenAs(answered({ claims: { exp: iat + 61 } }))],
  ['R12', 'no exp', 'fail: exp is missing (X1)', seenAs(answered({ claims: { exp: undefined } }))],
  [
    'R12',
    'no iat',
    `unknown: exp is ${iat + 60}, iat is missing (X1)`,
    seenAs(answered({ claims: { iat: undefined } })),
  ],

  ['R13', 'the constant', 'pass: aud is voice-api (X1)', seenAs(answered())],
  [
    'R13',
    'a list of it',
    'warn: aud is a list: ["voice-api"] (X1)',
    seenAs(answered({ claims: { aud: ['voice-api'] } })),
  ],
  [
    'R13',
    'a list of more',
    'fail: aud is ["voice-api","x"] (X1)',
    seenAs(answered({ claims: { aud: ['voice-api', 'x'] } })),
  ],
  ['R13', 'a list of another', 'fail: aud is ["x"] (X1)', seenAs(answered({ claims: { aud: ['x'] } }))],
  ['R13', 'another', 'fail: aud is "x" (X1)', seenAs(answered({ claims: { aud: 'x' } }))],
  [
    'R13',
    'an object',
    'fail: aud is {"0":"voice-api","length":1} (X1)',
    seenAs(answered({ claims: { aud: { 0: 'voice-api', length: 1 } } })),
  ],

  ['R14', 'one issuer', 'pass: iss is "voice" (X1 X2)', seenAs(answered(), answered({ at: 9 }))],
  [
    'R14',
    'two issuers',
    'fail: iss changes: "voice", "other" (X1 X2)',
    seenAs(answered(), answered({ at: 9, claims: { iss: 'other' } })),
  ],
  ['R14', 'an empty one', 'fail: iss is "" (X1)', seenAs(answered({ claims: { iss: '' } }))],
  [
    'R14',
    'none beside one',
    'fail: iss is "voice", missing (X1 X2)',
    seenAs(answered(), answered({ at: 9, claims: { iss: undefined } })),
  ],
  ['R14', 'no JWT', undefined, noJwt],
];

test.each(cases)('%s of %s: %s', (id, _what, found, seen) => {
  expect(finding(claimRules, id, seen)).toBe(found);
});
