import { expect, test } from 'vitest';
import { createRedactor } from '../../src/kernel/redact.ts';
import { readToken, tokenFacts } from '../../src/wire/token-facts.ts';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a JWT is read without its key', () => {
  const token = `${encode({ alg: 'HS256' })}.${encode({ sub: 'device-1', exp: 60 })}.c2ln`;
  expect(readToken(token)).toEqual({ header: { alg: 'HS256' }, claims: { sub: 'device-1', exp: 60 } });
});

test.each(['', 't.o.k', 'opaque', `${encode([])}.${encode(1)}.x`, '...', `.${encode({})}.`])(
  'a token that is not a JWT is not a failure: "%s"',
  (token) => {
    expect(readToken(token)).toBeUndefined();
  },
);

test('the facts of a token have no other token that its header or claims hold', () => {
  const inner = `${encode({ alg: 'HS256' })}.${encode({ sub: 'device-1' })}.c2lnbmF0dXJl`;
  const claims = { sub: 'device-1', refresh: [inner], exp: 60 };
  const token = `${encode({ alg: 'HS256', kid: inner })}.${encode(claims)}.c2ln`;
  expect(tokenFacts(token, createRedactor())).toMatchObject({
    header: { alg: 'HS256', kid: '[redacted]' },
    claims: { ...claims, refresh: ['[redacted]'] },
  });
});
