import { expect, test } from 'vitest';
import type { Seen } from '../../src/rules/rule.ts';
import { transportRules } from '../../src/rules/transport.ts';
import type { Breakdown } from '../../src/wire/exchange.ts';
import { grantedExchange } from '../helpers/exchanges.ts';

const [rule] = transportRules;

/** A request to this address that was answered, as it is seen. */
function asked(url: string, answer: { status: number; body: string }, provoked = false): Seen {
  const exchange = grantedExchange();
  return {
    id: provoked ? 'K4' : 'E1',
    exchange: {
      ...exchange,
      request: { ...exchange.request, url },
      answer: { headers: [], firstByteMs: 1, ...answer },
    },
    provoked,
  };
}

/** A request that broke before its answer. */
function broken(url: string, code: Breakdown['code']): Seen {
  const { exchange } = asked(url, ok);
  if (exchange.kind !== 'token') throw new Error('it is a token request');
  return { id: 'E1', exchange: { ...exchange, answer: undefined, breakdown: { code, message: 'no' } } };
}

const ok = { status: 200, body: '{"token":"t"}' };
const invalid = { status: 400, body: '{"error":{"code":"INVALID_REQUEST","message":"no"}}' };

test.each([
  ['passes over TLS', [asked('https://voice.example/', ok)], 'pass'],
  ['is not applicable on loopback', [asked('http://127.0.0.1:8787/', ok)], 'skipped'],
  ['fails over plain HTTP', [asked('http://voice.example/', ok)], 'fail'],
  ['fails where the stream alone is plain', [asked('https://v/', ok), asked('ws://v/', ok)], 'fail'],
  ['fails where TLS fails', [broken('https://v/', 'tls-failed')], 'fail'],
  ['says nothing without an answer', [broken('https://v/', 'connect-failed')], undefined],
  ['warns where the plain port grants tokens', [asked('http://v/', ok, true)], 'warn'],
  [
    'says nothing of a plain port that redirects',
    [asked('http://v/', { status: 300, body: '' }, true)],
    undefined,
  ],
  ['warns where the plain port is the service too', [asked('http://v/', invalid, true)], 'warn'],
  [
    'passes where the plain port is another thing',
    [asked('https://v/', ok), asked('http://v/', { status: 301, body: '' }, true)],
    'pass',
  ],
])('R32 %s', (_what, seen, verdict) => {
  expect(rule?.judge(seen)?.verdict).toBe(verdict);
});
