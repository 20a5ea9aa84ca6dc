import { createHmac, generateKeyPairSync, webcrypto } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createTokenAuthority } from '../../../src/emulator/tokens/token-authority.ts';
import { type DialectInput, parseDialect } from '../../../src/protocol/dialect.ts';
import { createRandom } from '../../../src/service/random.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const secret = 'a test secret of more than 32 bytes';
const nowSeconds = Date.UTC(2026, 0, 1) / 1000;

async function start(token: DialectInput['token'] = {}, seed = 1, clockErrorMs = 0) {
  const parsed = parseDialect({ token });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const clock = createManualClock(nowSeconds * 1000);
  const settings = parsed.dialect.token;
  const random = createRandom(seed);
  return { clock, authority: await createTokenAuthority({ clock, random, settings, clockErrorMs }) };
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function sign(header: unknown, claims: unknown, key = secret) {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

const header = { alg: 'HS256', typ: 'JWT' };
const claims = {
  sub: 'device-1',
  iat: nowSeconds,
  exp: nowSeconds + 60,
  aud: 'voice-api',
  iss: 'voicectl-emulator',
  jti: 'forged-1',
};

test('a token has the claims of the specification and is signed with the secret', async () => {
  const { authority } = await start({ secret });
  const { token } = await authority.issue('device-1');
  const [head = '', payload = '', signature = ''] = token.split('.');
  const expected = createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url');
  expect(signature).toBe(expected);
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual(header);
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({
    ...claims,
    jti: expect.any(String),
  });
});

test.each(['HS256', 'HS384', 'HS512', 'RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const)(
  'a token that is signed with %s is accepted, and by no other emulator',
  async (algorithm) => {
    const [one, other] = await Promise.all([start({ algorithm }), start({ algorithm })]);
    const { token, claims: issued } = await one.authority.issue('device-1');
    expect(decodeProtectedHeader(token).alg).toBe(algorithm);
    expect(await one.authority.verify(token)).toEqual({ ok: true, claims: issued });
    expect(await other.authority.verify(token)).toMatchObject({ ok: false, cause: 'tokenInvalid' });
  },
);

test('a private key of the dialect signs, and its public half verifies', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const { authority } = await start({ algorithm: 'ES256', privateKey: pem });
  const { token } = await authority.issue('device-1');
  const [head, payload, signature = ''] = token.split('.');
  const jwk = publicKey.export({ format: 'jwk' });
  const key = await webcrypto.subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'verify',
  ]);
  const signed = Buffer.from(`${head}.${payload}`);
  const verified = await webcrypto.subtle.verify(
    { name: 'ECDSA', hash: 'SHA-256' },
    key,
    Buffer.from(signature, 'base64url'),
    signed,
  );
  expect(verified).toBe(true);
  expect(await authority.verify(token)).toHaveProperty('ok', true);
});

test('issuer, header and additional claims are those of the dialect', async () => {
  const { authority } = await start({
    issuer: 'https://issuer.test',
    header: { kid: 'k1', typ: 'at+jwt' },
    extraClaims: { tenant: { id: 1 } },
  });
  const { token } = await authority.issue('device-1');
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', kid: 'k1', typ: 'at+jwt' });
  expect(decodeJwt(token)).toMatchObject({ iss: 'https://issuer.test', tenant: { id: 1 }, sub: 'device-1' });
});

const keyOf = (type: 'rsa' | 'ec') => {
  const pair =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 1024 })
      : generateKeyPairSync('ec', { namedCurve: 'P-384' });
  return pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

test.each([
  ['a key that cannot be read', { algorithm: 'RS256', privateKey: '-----BEGIN PRIVATE KEY-----\nAAAA' }],
  ['a key of another curve', { algorithm: 'ES256', privateKey: keyOf('ec') }],
  ['a key that is too short', { algorithm: 'RS256', privateKey: keyOf('rsa') }],
  ['a header field that nobody understands', { header: { crit: ['canary'], canary: 1 } }],
  ['a claim that is valid later only', { extraClaims: { nbf: nowSeconds + 3_600 } }],
  ['claims beyond the size of a token', { extraClaims: { more: 'x'.repeat(4_096) } }],
] as const)('%s is refused at start', async (_name, token) => {
  await expect(start(token as DialectInput['token'])).rejects.toMatchObject({
    code: 'bad-dialect',
    exitCode: 2,
  });
});

test('a seed gives the same sequence of identifiers, and another seed another one', async () => {
  const sequence = async (seed: number) => {
    const { authority } = await start({}, seed);
    return [await authority.issue('a'), await authority.issue('b')].map((issued) => issued.claims.jti);
  };
  expect(await sequence(1)).toEqual(await sequence(1));
  expect(await sequence(1)).not.toEqual(await sequence(2));
});

describe('a token is refused', () => {
  const otherAudience = { ...claims, aud: 'another-api' };
  const without = (name: keyof typeof claims) => ({ ...claims, [name]: undefined });
  const good = sign(header, claims);
  const [head = '', payload = '', signature = ''] = good.split('.');

  test.each([
    ['that has no signature', `${part({ alg: 'none' })}.${payload}.`],
    ['of algorithm none with a signature', `${part({ alg: 'none' })}.${payload}.${signature}`],
    ['of algorithm None', `${part({ alg: 'None' })}.${payload}.${signature}`],
    ['of another algorithm', sign({ ...header, alg: 'HS512' }, claims)],
    ['of an algorithm that is a list', sign({ ...header, alg: ['HS256'] }, claims)],
    ['without an algorithm', sign({ typ: 'JWT' }, claims)],
    ['that brings its own key', sign({ ...header, jwk: { kty: 'oct', k: 'AA' } }, claims, 'own')],
    ['with a critical header', sign({ ...header, crit: ['exp'] }, claims)],
    ['with an unencoded payload', sign({ ...header, b64: false, crit: ['b64'] }, claims)],
    ['that is signed with another key', sign(header, claims, 'another secret of 32 bytes and more')],
    ['that is signed with nothing', sign(header, claims, '')],
    [
      'with a changed signature',
      `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    ],
    ['with half of its signature', good.slice(0, -10)],
    ['with changed claims', `${head}.${part({ ...claims, sub: 'device-2' })}.${signature}`],
    ['of another issuer', sign(header, { ...claims, iss: 'somebody' })],
    ['for another audience', sign(header, otherAudience)],
    ['without sub', sign(header, without('sub'))],
    ['without iat', sign(header, without('iat'))],
    ['without exp', sign(header, without('exp'))],
    ['without aud', sign(header, without('aud'))],
    ['without iss', sign(header, without('iss'))],
    ['without jti', sign(header, without('jti'))],
    ['with an empty sub', sign(header, { ...claims, sub: '' })],
    ['with an empty jti', sign(header, { ...claims, jti: '' })],
    ['with a number as sub', sign(header, { ...claims, sub: 1 })],
    ['with an object as jti', sign(header, { ...claims, jti: {} })],
    ['with a text as exp', sign(header, { ...claims, exp: String(claims.exp) })],
    ['with a lifetime of a year', sign(header, { ...claims, exp: claims.iat + 31_536_000 })],
    ['with a lifetime of 61 s', sign(header, { ...claims, exp: claims.iat + 61 })],
    ['with a lifetime of 59 s', sign(header, { ...claims, exp: claims.iat + 59 })],
    ['from the future', sign(header, { ...claims, iat: nowSeconds + 10, exp: nowSeconds + 70 })],
    ['that is valid later only', sign(header, { ...claims, nbf: nowSeconds + 10 })],
    ['whose claims are a list', sign(header, [claims])],
    ['whose claims are null', sign(header, null)],
    ['of 5 KiB', sign(header, { ...claims, more: 'x'.repeat(5 * 1024) })],
    ['that is no token', 'hello'],
    ['that is empty', ''],
    ['of two parts', `${head}.${payload}`],
    ['of four parts', `${good}.${signature}`],
    ['of five parts', 'a.b.c.d.e'],
    ['of dots', '..'],
    ['in JSON', JSON.stringify({ token: good })],
    ['after "Bearer"', `Bearer ${good}`],
    ['with a line break', `${good}\n`],
    ['with NUL', `${good}\0`],
    ['whose header is no JSON', `${Buffer.from('{').toString('base64url')}.${payload}.${signature}`],
  ])('%s', async (_name, token) => {
    const { authority } = await start({ secret });
    expect(await authority.verify(token)).toMatchObject({ ok: false, cause: 'tokenInvalid' });
  });

  test('with only the beginning of the identifiers in it that are long', async () => {
    const { authority } = await start({ secret });
    const long = { ...claims, sub: 'd'.repeat(1_000), jti: 'j'.repeat(1_000) };
    expect(await authority.verify(sign(header, long, 'another'))).toMatchObject({
      device: 'd'.repeat(256),
      jti: 'j'.repeat(256),
    });
  });

  test('and the one that they are made from is accepted', async () => {
    const { authority } = await start({ secret });
    expect(await authority.verify(good)).toEqual({ ok: true, claims });
  });

  test('signed with the public key as if it were a secret', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { authority } = await start({ algorithm: 'RS256', privateKey: pem });
    const asSecret = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(await authority.verify(sign(header, claims, asSecret))).toHaveProperty('ok', false);
  });

  test('whatever it contains: verifying returns, and never throws', async () => {
    const { authority } = await start({ secret });
    let state = 42;
    const next = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % below;
    };
    for (let i = 0; i < 2_000; i += 1) {
      const bytes = [...good].map((letter) => (next(40) === 0 ? String.fromCharCode(next(300)) : letter));
      bytes.splice(next(bytes.length), next(3));
      const token = bytes.join('');
      if (token !== good) expect(await authority.verify(token)).toHaveProperty('ok', false);
    }
  });
});

describe('a lifetime', () => {
  test('ends 60 seconds after the issue, and not before', async () => {
    const { clock, authority } = await start();
    const { token } = await authority.issue('device-1');
    clock.advance(59_999);
    expect(await authority.verify(token)).toHaveProperty('ok', true);
    clock.advance(1);
    expect(await authority.verify(token)).toMatchObject({ ok: false, cause: 'tokenExpired' });
  });

  test('is extended at both ends by the tolerance of the dialect', async () => {
    const { clock, authority } = await start({ secret, clockToleranceSeconds: 5 });
    const early = { ...claims, iat: nowSeconds + 5, exp: nowSeconds + 65 };
    expect(await authority.verify(sign(header, early))).toHaveProperty('ok', true);
    const tooEarly = { ...claims, iat: nowSeconds + 6, exp: nowSeconds + 66 };
    expect(await authority.verify(sign(header, tooEarly))).toHaveProperty('ok', false);
    clock.advance(64_999);
    expect(await authority.verify(sign(header, claims))).toHaveProperty('ok', true);
    clock.advance(1);
    expect(await authority.verify(sign(header, claims))).toHaveProperty('ok', false);
  });
});

test('a token of an emulator whose clock is a second ahead is accepted, and of one further ahead refused', async () => {
  const { authority } = await start({ secret }, 1, 1_000);
  const issuedIn = (seconds: number) =>
    sign(header, { ...claims, iat: nowSeconds + seconds, exp: nowSeconds + seconds + 60 });
  expect(await authority.verify(issuedIn(1))).toHaveProperty('ok', true);
  expect(await authority.verify(issuedIn(2))).toMatchObject({ ok: false, cause: 'tokenInvalid' });
});

test('a signature that is encoded differently is the same token, with the same identifier', async () => {
  const { authority } = await start({ secret });
  const { token, claims: issued } = await authority.issue('device-1');
  // 32 bytes are 43 letters, of which the last carries two bits that no decoder reads.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(token.at(-1)!);
  const variant = token.slice(0, -1) + alphabet[last ^ 1];
  expect(await authority.verify(variant)).toEqual({ ok: true, claims: issued });
});

test('another program can make a token with the secret of the dialect', async () => {
  const { authority } = await start({ secret });
  const token = await new SignJWT(claims).setProtectedHeader(header).sign(new TextEncoder().encode(secret));
  expect(await authority.verify(token)).toHaveProperty('ok', true);
});
