import { expect, test } from 'vitest';
import { buildClaims, reservedClaims } from '../../src/protocol/claims.ts';

const input = { deviceId: 'device-1', issuer: 'someone', jti: 'one' };

test('a token expires 60 seconds after it was issued and names the device', () => {
  expect(buildClaims({ ...input, nowMs: 1_767_323_045_000 })).toEqual({
    sub: 'device-1',
    iat: 1_767_323_045,
    exp: 1_767_323_105,
    aud: 'voice-api',
    iss: 'someone',
    jti: 'one',
  });
});

test.each([0, 1, 499, 500, 999])('%i ms into a second, the issue time is the whole second before', (ms) => {
  const { iat, exp } = buildClaims({ ...input, nowMs: 1_767_323_045_000 + ms });
  expect([iat, exp]).toEqual([1_767_323_045, 1_767_323_105]);
});

test('every claim of a token is reserved', () => {
  expect(Object.keys(buildClaims({ ...input, nowMs: 0 })).sort()).toEqual([...reservedClaims].sort());
});
