import { expect, test } from 'vitest';
import { readTokenResponse } from '../../src/protocol/token-response.ts';

test.each([
  [{ token: 'a.b.c' }, 'a.b.c'],
  [{ token: 'a.b.c', expiresIn: 60 }, 'a.b.c'],
  [{ token: '' }, undefined],
  [{ token: 42 }, undefined],
  [{ token: { value: 'a.b.c' } }, undefined],
  [{ accessToken: 'a.b.c' }, undefined],
  [['a.b.c'], undefined],
  ['a.b.c', undefined],
  [null, undefined],
  [undefined, undefined],
])('the token in %j is %j', (body, token) => {
  expect(readTokenResponse(body)).toBe(token);
});
