import { expect, test } from 'vitest';
import { tokenPath } from '../../src/protocol/paths.ts';
import { invalidRequestRules } from '../../src/rules/invalid-requests.ts';
import type { Seen } from '../../src/rules/rule.ts';
import { seenAs } from '../helpers/device-exchanges.ts';
import { answered, finding, refused } from '../helpers/service-exchanges.ts';

const code = 'INVALID_REQUEST';
const page = { body: '<html>', headers: { 'Content-Type': 'text/html' } };
const noKey = '{"deviceId":"d1"}';
const noDevice = '{"apiKey":"[redacted]"}';
const missing = (field: string, asked: string, details: unknown = { field, expected: 'string' }) =>
  seenAs(refused({ asked, error: { code, message: `${field} is required`, details } }));
const empty = (field: string, details: unknown = { field, expected: 'string' }) =>
  seenAs(
    refused({
      asked: JSON.stringify({ apiKey: 'k', deviceId: 'd', [field]: '' }),
      error: { code, message: 'no', details },
    }),
  );
const ok = 'pass: refused as INVALID_REQUEST (X1)';
const error = (body: unknown, more: { status?: number } = {}) =>
  seenAs(refused({ body: typeof body === 'string' ? body : JSON.stringify(body), ...more }));

type Case = [id: string, what: string, found: string | undefined, seen: readonly Seen[]];

const cases: Case[] = [
  ['R15', 'named', ok, missing('apiKey', noKey)],
  ['R15', 'a request with a key', undefined, missing('apiKey', noDevice)],
  ['R15', 'a request that is no object', undefined, missing('apiKey', '[]')],
  [
    'R15',
    'another code',
    'fail: the code is "BAD": "apiKey" (X1)',
    seenAs(refused({ asked: noKey, error: { code: 'BAD', message: 'apiKey' } })),
  ],
  [
    'R15',
    'no code',
    'fail: answered 422 without a code: "no" (X1)',
    seenAs(refused({ asked: noKey, status: 422, body: 'no' })),
  ],
  [
    'R15',
    'a message that does not name it',
    'fail: the message does not name apiKey: "a field is missing" (X1)',
    seenAs(
      refused({
        asked: noKey,
        error: { code, message: 'a field is missing', details: { field: 'apiKey', expected: 'string' } },
      }),
    ),
  ],
  [
    'R15',
    'no message',
    'fail: the message does not name apiKey: missing (X1)',
    seenAs(refused({ asked: noKey, error: { code } })),
  ],
  [
    'R15',
    'details of another field',
    'fail: details are {"field":"deviceId","expected":"string"} (X1)',
    missing('apiKey', noKey, { field: 'deviceId', expected: 'string' }),
  ],
  [
    'R15',
    'details of another type',
    'fail: details are {"field":"apiKey","expected":"number"} (X1)',
    missing('apiKey', noKey, { field: 'apiKey', expected: 'number' }),
  ],
  ['R15', 'no details', 'fail: details are missing (X1)', missing('apiKey', noKey, null)],
  [
    'R15',
    'a code that is a number',
    'fail: the code is 7: "apiKey" (X1)',
    seenAs(refused({ asked: noKey, error: { code: 7, message: 'apiKey' } })),
  ],
  [
    'R15',
    'details that are a list',
    'fail: details are [{"field":"apiKey"}] (X1)',
    missing('apiKey', noKey, [{ field: 'apiKey' }]),
  ],
  ['R15', 'details that are a text', 'fail: details are "apiKey" (X1)', missing('apiKey', noKey, 'apiKey')],
  [
    'R15',
    'details beside the code of a flat body',
    ok,
    seenAs(
      refused({
        asked: noKey,
        body: JSON.stringify({ code, message: 'apiKey', details: { field: 'apiKey', expected: 'string' } }),
      }),
    ),
  ],
  ['R15', 'granted', 'fail: it was granted (X1)', seenAs(answered({ asked: noKey }))],
  [
    'R15',
    'a page',
    'unknown: a gateway answered 403 (X1)',
    seenAs(refused({ ...page, asked: noKey, status: 403 })),
  ],
  [
    'R15',
    'a path that does not exist',
    'unknown: this form of the path does not exist (X1)',
    seenAs(refused({ asked: noKey, status: 404 }), answered({ path: tokenPath('v1') })),
  ],
  ['R16', 'named', ok, missing('deviceId', noDevice)],
  ['R16', 'a request with a device', undefined, missing('deviceId', noKey)],

  ['R15', 'both are missing: the answer names one', undefined, missing('deviceId', '{}')],
  ['R16', 'both are missing: the answer names one', undefined, missing('apiKey', '{}')],
  [
    'R16',
    'one that is sent as something else',
    undefined,
    seenAs(refused({ asked: noDevice, requestHeaders: [['Content-Type', 'text/plain']] })),
  ],
  [
    'R17',
    'a form',
    undefined,
    seenAs(
      refused({ asked: 'apiKey=k', requestHeaders: [['Content-Type', 'application/x-www-form-urlencoded']] }),
    ),
  ],
  ['R17', 'one that is too large', undefined, seenAs(refused({ asked: '{', status: 413, body: 'no' }))],
  ['R17', 'refused', ok, seenAs(refused({ asked: '{"apiKey"' }))],
  [
    'R17',
    'another code',
    'fail: the code is "BAD" (X1)',
    seenAs(refused({ asked: '{', error: { code: 'BAD' } })),
  ],
  ['R17', 'JSON', undefined, seenAs(refused({ asked: 'null' }))],

  ['R18', 'refused', ok, empty('apiKey')],
  ['R18', 'without details', 'fail: details are missing (X1)', empty('apiKey', null)],
  ['R18', 'the other one', undefined, empty('deviceId')],
  ['R19', 'refused', ok, empty('deviceId')],
  [
    'R19',
    'both are empty: the answer names one',
    undefined,
    seenAs(refused({ asked: '{"apiKey":"","deviceId":""}', error: { code, message: 'no' } })),
  ],
  ['R19', 'the other one', undefined, empty('apiKey')],
  [
    'R19',
    'another code',
    'fail: the code is "BAD" (X1)',
    seenAs(
      refused({
        asked: '{"apiKey":"k","deviceId":""}',
        error: { code: 'BAD', details: { field: 'deviceId', expected: 'string' } },
      }),
    ),
  ],

  ['R20', 'a number as device', ok, seenAs(refused({ asked: '{"apiKey":"k","deviceId":7}' }))],
  ['R20', 'a list as key', ok, seenAs(refused({ asked: '{"apiKey":[],"deviceId":"d"}' }))],
  ['R20', 'a missing field', undefined, seenAs(refused({ asked: noKey }))],
  ['R20', 'granted', 'warn: it was granted (X1)', seenAs(answered({ asked: '{"deviceId":7}' }))],
  [
    'R20',
    'a page',
    'unknown: a gateway answered 400 (X1)',
    seenAs(refused({ ...page, asked: '{"deviceId":7}' })),
  ],

  ['R21', 'as specified', 'pass: as specified (X1)', seenAs(refused())],
  [
    'R21',
    'with details',
    'pass: as specified (X1)',
    seenAs(refused({ error: { code, message: '', details: {} } })),
  ],
  ['R21', 'no JSON', 'fail: the body is "oh" (X1)', error('oh')],
  ['R21', 'flat', 'fail: the body is {"code":"C","message":"m"} (X1)', error({ code: 'C', message: 'm' })],
  ['R21', 'a list', 'fail: the body is [] (X1)', error([])],
  ['R21', 'an empty code', 'fail: error.code is "" (X1)', error({ error: { code: '', message: '' } })],
  ['R21', 'a number as code', 'fail: error.code is 7 (X1)', error({ error: { code: 7, message: '' } })],
  ['R21', 'no message', 'fail: error.message is missing (X1)', error({ error: { code } })],
  [
    'R21',
    'details that are a text',
    'fail: error.details is "x" (X1)',
    error({ error: { code, message: '', details: 'x' } }),
  ],
  ['R21', 'a success', undefined, seenAs(answered())],
  ['R21', 'a redirect', undefined, error('', { status: 399 })],
  ...[408, 411, 413, 414, 415, 431, 502, 503, 504].map(
    (status): Case => [
      'R21',
      `${status} in another form`,
      `unknown: ${status} may come from something in front of the service: the body is "oh" (X1)`,
      error('oh', { status }),
    ],
  ),
  [
    'R21',
    'a page',
    'unknown: 500 may come from something in front of the service: the body is "<html>" (X1)',
    seenAs(refused({ ...page, status: 500 })),
  ],
  [
    'R21',
    'a missing path in another form',
    'unknown: 404 may come from something in front of the service: the body is "no" (X1)',
    seenAs(refused({ status: 404, body: 'no' }), answered({ path: tokenPath('v1') })),
  ],

  ['R22', 'a 400', 'pass: errors have an error status (X1)', seenAs(refused())],
  [
    'R22',
    'an error with 200, of two',
    'fail: an error with status 200 (X2)',
    seenAs(refused(), refused({ status: 200 })),
  ],
  ['R22', 'a code with 299', 'fail: an error with status 299 (X1)', error({ code: 'C' }, { status: 299 })],
  [
    'R22',
    'a bare error with 200',
    'fail: an error with status 200 (X1)',
    error({ error: 'x' }, { status: 200 }),
  ],
  ['R22', 'another object with 200', undefined, error({ jwt: 'x' }, { status: 200 })],
  [
    'R22',
    'no token for an invalid request, with 200 and in other words',
    'fail: an error with status 200 (X1)',
    seenAs(refused({ asked: noKey, status: 200, body: '{"token":null,"message":"no apiKey"}' })),
  ],
  [
    'R22',
    'nothing at all for an invalid request, with 204',
    'fail: an error with status 204 (X1)',
    seenAs(refused({ asked: noKey, status: 204, body: '' })),
  ],
  [
    'R22',
    'no token for a wrong key, with 200',
    'fail: an error with status 200 (X1)',
    seenAs(refused({ status: 200, body: '{"ok":false}' })).map((one) => ({ ...one, provoked: true })),
  ],
  ['R22', 'a page with 200', undefined, seenAs(refused({ ...page, status: 200 }))],
  ...[
    ...['cloudflare', 'CloudFront', 'awselb/2.0', 'AkamaiGHost', 'varnish', 'Fastly', 'BigIP', 'big-ip'],
    ...['Imperva', 'Sucuri', 'BunnyCDN', 'Vercel', 'envoy'],
  ].map(
    (Server): Case => [
      'R22',
      `an error with 200 of ${Server}`,
      undefined,
      seenAs(refused({ status: 200, headers: { Server } })),
    ],
  ),
  [
    'R22',
    'an error with 200 of a server that no gateway is called by',
    'fail: an error with status 200 (X1)',
    seenAs(refused({ status: 200, headers: { Server: 'nginx' } })),
  ],
  [
    'R22',
    'an error with 200 where tokens come the same way',
    'fail: an error with status 200 (X1)',
    seenAs(
      refused({ status: 200, headers: { Server: 'envoy' } }),
      answered({ headers: { Server: 'envoy' } }),
    ),
  ],
  [
    'R22',
    'an error with 200 of a gateway where tokens come another way',
    undefined,
    seenAs(
      refused({ status: 200, headers: { Server: 'envoy' } }),
      answered({ headers: { Server: 'nginx' } }),
    ),
  ],
  ['R22', 'a grant', undefined, seenAs(answered())],
  ['R22', 'a redirect', undefined, error('', { status: 307 })],
];

test.each(cases)('%s of %s: %s', (id, _what, found, seen) => {
  expect(finding(invalidRequestRules, id, seen)).toBe(found);
});
