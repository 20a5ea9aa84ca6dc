import { expect, test } from 'vitest';
import { tokenPath } from '../../src/protocol/paths.ts';
import type { Seen } from '../../src/rules/rule.ts';
import { tokenAnswerRules } from '../../src/rules/token-answer.ts';
import type { Header } from '../../src/wire/exchange.ts';
import { seenAs } from '../helpers/device-exchanges.ts';
import { answered, finding, refused, serviceToken } from '../helpers/service-exchanges.ts';

const v1 = tokenPath('v1');
const page = { body: '<!DOCTYPE html>', headers: { 'Content-Type': 'text/html' } };
const withoutAccept: readonly Header[] = [['Content-Type', 'application/json']];
const withHeader = (name: string): readonly Header[] => [...withoutAccept, [name, 'x']];
const provoked = (...seen: readonly Seen[]) => seen.map((one) => ({ ...one, provoked: true }));
const notThere = 'the other form of the path works (X1 X2)';

type Case = [id: string, what: string, found: string | undefined, seen: readonly Seen[]];

const cases: Case[] = [
  ['R1', 'a grant', 'pass: answered 200 (X1)', seenAs(answered())],
  ['R1', 'a grant of the other path', undefined, seenAs(answered({ path: v1 }))],
  ['R2', 'a grant of the other path', undefined, seenAs(answered())],
  ['R2', 'a grant', 'pass: answered 200 (X1)', seenAs(answered({ path: v1 }))],
  [
    'R1',
    'a 201 beside a 200',
    'fail: answered 201 (X2)',
    seenAs(answered(), answered({ at: 10, status: 201 })),
  ],
  ['R1', 'a request of another method', undefined, seenAs(answered({ method: 'GET' }))],
  ['R1', 'a request with a wrong key', undefined, provoked(...seenAs(refused({ status: 401 })))],
  ['R1', 'a request without a device', undefined, seenAs(refused({ asked: '{"apiKey":"[redacted]"}' }))],
  [
    'R1',
    'a request with an empty key',
    undefined,
    seenAs(refused({ asked: '{"apiKey":"","deviceId":"d"}' })),
  ],
  ['R1', 'a request that is no object', undefined, seenAs(refused({ asked: '["apiKey","deviceId"]' }))],
  ...[404, 405, 410, 501].flatMap((status): Case[] => [
    [
      'R1',
      `${status} everywhere`,
      `fail: answered ${status} ("INVALID_REQUEST: invalid") (X1)`,
      seenAs(refused({ status })),
    ],
    [
      'R1',
      `${status}, although the other path works`,
      `warn: answered ${status}, although ${notThere}`,
      seenAs(refused({ status }), answered({ path: v1, at: 1 })),
    ],
  ]),
  [
    'R1',
    'a page with 200',
    'unknown: answered 200 with a web page, not by the service (X1)',
    seenAs(answered({ ...page, token: null })),
  ],
  [
    'R1',
    'a page with 404',
    'unknown: answered 404 with a web page, not by the service (X1)',
    seenAs(refused({ ...page, status: 404 })),
  ],
  ['R1', 'a redirect', 'unknown: redirected with 300: not followed (X1)', seenAs(refused({ status: 300 }))],
  [
    'R1',
    'the last of the redirects',
    'unknown: redirected with 399: not followed (X1)',
    seenAs(refused({ status: 399 })),
  ],
  ['R1', 'a 400', 'fail: answered 400 ("INVALID_REQUEST: invalid") (X1)', seenAs(refused({ status: 400 }))],
  ['R1', 'a 422', 'fail: answered 422 ("INVALID_REQUEST: invalid") (X1)', seenAs(refused({ status: 422 }))],
  [
    'R1',
    'a 401',
    'unknown: refused with 401 ("INVALID_REQUEST: invalid") (X1)',
    seenAs(refused({ status: 401 })),
  ],
  [
    'R1',
    'a 401, although the other path works',
    'fail: answered 401 ("INVALID_REQUEST: invalid") (X1)',
    seenAs(refused({ status: 401 }), answered({ path: v1, at: 1 })),
  ],
  [
    'R1',
    'a 400 to a request without Accept, as to all of them',
    'unknown: refused with 400 ("INVALID_REQUEST: invalid"): because of the path, or because Accept is missing (X1)',
    seenAs(refused({ requestHeaders: withoutAccept }), answered({ path: v1 })),
  ],
  [
    'R1',
    'a 400 to a request without Accept, and another is granted',
    'fail: answered 400 ("INVALID_REQUEST: invalid") (X1)',
    seenAs(refused({ requestHeaders: withoutAccept }), answered({ path: v1, requestHeaders: withoutAccept })),
  ],

  ['R3', 'JSON', 'pass: as specified (X1)', seenAs(answered())],
  [
    'R3',
    'JSON with a charset, in capitals',
    'pass: as specified (X1)',
    seenAs(answered({ headers: { 'Content-Type': 'Application/JSON ; charset=utf-8' } })),
  ],
  [
    'R3',
    'text, of two',
    'fail: Content-Type is "text/plain" (X2)',
    seenAs(answered(), answered({ headers: { 'Content-Type': 'text/plain' } })),
  ],
  [
    'R3',
    'no type',
    'fail: Content-Type is missing (X1)',
    seenAs(answered({ headers: { 'Content-Type': undefined } })),
  ],
  ['R3', 'no grant', undefined, seenAs(refused())],

  ['R4', 'all directives', 'pass: as specified (X1)', seenAs(answered())],
  [
    'R4',
    'all directives, in another order and in capitals',
    'pass: as specified (X1)',
    seenAs(answered({ headers: { 'Cache-Control': 'No-Store,must-revalidate,  NO-CACHE' } })),
  ],
  [
    'R4',
    'one of three',
    'fail: Cache-Control is "no-store", without no-cache, must-revalidate (X1)',
    seenAs(answered({ headers: { 'Cache-Control': 'no-store' } })),
  ],
  [
    'R4',
    'none',
    'fail: Cache-Control is missing (X1)',
    seenAs(answered({ headers: { 'Cache-Control': undefined } })),
  ],

  [
    'R5',
    'two tokens',
    'pass: each request gets its own token (X1 X2)',
    seenAs(answered(), answered({ at: 1_100 })),
  ],
  [
    'R5',
    'the same token again',
    'fail: two requests were answered with the same token (X1 X2)',
    seenAs(answered({ at: 5_000, token: serviceToken() }), answered({ token: serviceToken() })),
  ],
  [
    'R5',
    'the same token within a second',
    undefined,
    seenAs(answered({ token: serviceToken() }), answered({ at: 1_099, token: serviceToken() })),
  ],
  [
    'R5',
    'the same token at the third request',
    'fail: two requests were answered with the same token (X2 X3)',
    seenAs(
      answered(),
      answered({ at: 2_000, token: serviceToken(1) }),
      answered({ at: 4_000, token: serviceToken(1) }),
    ),
  ],
  ['R5', 'one request', undefined, seenAs(answered())],
  [
    'R5',
    'an Age',
    'fail: the answer has an Age header: it came from a cache (X1)',
    seenAs(answered({ headers: { Age: '3' } })),
  ],

  ['R6', 'a token', 'pass: the body contains a token (X1)', seenAs(answered())],
  [
    'R6',
    'another object, of two',
    'fail: the body is {"jwt":"x"} (X2)',
    seenAs(answered(), answered({ token: null, body: '{"jwt":"x"}' })),
  ],
  [
    'R6',
    'a bare token',
    'fail: the body is not JSON: "e30.e30.x" (X1)',
    seenAs(answered({ token: null, body: 'e30.e30.x' })),
  ],
  [
    'R6',
    'a page',
    'unknown: the body is a web page, not from the service (X1)',
    seenAs(answered({ ...page, token: null })),
  ],
  ['R6', 'a refusal', undefined, seenAs(refused())],

  [
    'R7',
    'granted without',
    'pass: granted without Accept (X1)',
    seenAs(answered({ requestHeaders: withoutAccept })),
  ],
  ['R7', 'never asked without', undefined, seenAs(answered())],
  [
    'R7',
    'refused without, and never granted',
    'unknown: refused with 406 ("INVALID_REQUEST: invalid"), as with Accept (X1)',
    seenAs(refused({ status: 406, requestHeaders: withoutAccept })),
  ],
  [
    'R7',
    'refused without, granted with',
    'fail: refused with 406 ("INVALID_REQUEST: invalid") without Accept, but granted with it (X1 X2)',
    seenAs(refused({ status: 406, requestHeaders: withoutAccept }), answered()),
  ],
  [
    'R7',
    'refused without, granted with on the other path',
    'unknown: refused with 404 ("INVALID_REQUEST: invalid"), as with Accept (X1)',
    seenAs(refused({ status: 404, requestHeaders: withoutAccept }), answered({ path: v1 })),
  ],

  ['R8', 'granted', 'pass: granted with the key and the device alone (X1)', seenAs(answered())],
  [
    'R8',
    'asked for another credential',
    'fail: requires another credential: WWW-Authenticate is "Basic" (X2)',
    seenAs(refused({ status: 401 }), refused({ status: 401, headers: { 'WWW-Authenticate': 'Basic' } })),
  ],
  [
    'R8',
    'refused without a word',
    'unknown: refused with 401 ("INVALID_REQUEST: invalid"): because of the key, or because another credential is missing (X1)',
    seenAs(refused({ status: 401 }), refused({ status: 403 })),
  ],
  ...['Authorization', 'Cookie', 'X-Api-Key', 'Proxy-Authorization'].map(
    (name): Case => [
      'R8',
      `granted with ${name}`,
      undefined,
      seenAs(answered({ requestHeaders: withHeader(name) })),
    ],
  ),
];

test.each(cases)('%s of %s: %s', (id, _what, found, seen) => {
  expect(finding(tokenAnswerRules, id, seen)).toBe(found);
});
