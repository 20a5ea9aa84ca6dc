import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createSignToken } from '../../../src/emulator/tokens/token-authority.ts';
import { buildClaims } from '../../../src/protocol/claims.ts';
import { parseDialect } from '../../../src/protocol/dialect.ts';

const claims = buildClaims({ deviceId: 'dévice-1 "🎙"', issuer: 'someone', jti: 'j-1', nowMs: Date.now() });

function settingsOf(token: object) {
  const parsed = parseDialect({ token });
  if (!parsed.ok) throw new Error('the dialect is wrong');
  return parsed.dialect.token;
}

describe.each(['HS256', 'HS384', 'HS512'] as const)('a token signed with %s', (algorithm) => {
  const key = createSecretKey(
    Buffer.from('a secret of more than sixty-four bytes, which is what HS512 asks for, is it not'),
  );
  const settings = settingsOf({
    algorithm,
    header: { kid: 'k1' },
    extraClaims: { plan: ['a', { b: 1 }] },
  });

  test('is verified by jose, and contains what it was given', async () => {
    const token = await createSignToken({ settings, key })(claims);
    const { payload, protectedHeader } = await jwtVerify(token, key, { algorithms: [algorithm] });
    expect(protectedHeader).toEqual({ typ: 'JWT', kid: 'k1', alg: algorithm });
    expect(payload).toEqual({ plan: ['a', { b: 1 }], ...claims });
  });

  test('is exactly the one that jose makes', async () => {
    const theirs = new SignJWT({ ...settings.extraClaims, ...claims })
      .setProtectedHeader({ typ: 'JWT', ...settings.header, alg: algorithm })
      .sign(key);
    expect(await createSignToken({ settings, key })(claims)).toBe(await theirs);
  });
});

test.each(['ES256', 'RS256'] as const)(
  'a token of %s is signed by jose, and verified by it',
  async (algorithm) => {
    const { privateKey, publicKey } =
      algorithm === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: 2048 });
    const token = await createSignToken({ settings: settingsOf({ algorithm }), key: privateKey })(claims);
    const { payload } = await jwtVerify(token, publicKey, { algorithms: [algorithm] });
    expect(payload).toEqual(claims);
  },
);
