import { expect, test } from 'vitest';
import { readToken } from '../../src/wire/token-facts.ts';

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
