import { createHash, createPublicKey, createSecretKey, generateKeySync, type KeyObject } from 'node:crypto';
import { type CryptoKey, errors, generateKeyPair, importPKCS8, type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { audience, buildClaims, type TokenClaims, tokenLifetimeSeconds } from '../../protocol/claims.ts';
import { type CloseCause, type Dialect, isSymmetric } from '../../protocol/dialect.ts';
import { maxTokenBytes } from '../../protocol/token-response.ts';
import type { Random } from '../random.ts';
import { createSignToken } from './sign-token.ts';

type Key = CryptoKey | KeyObject;
type Keys = { signing: Key; verifying: Key };

export type Verified =
  | { ok: true; claims: TokenClaims }
  | { ok: false; cause: Extract<CloseCause, 'tokenInvalid' | 'tokenExpired'>; why: string };

/** What is wrong with a token that a fault has issued, and that `verify` refuses. */
export type WrongToken = 'expired' | 'future' | 'other-audience' | 'other-issuer' | 'bad-signature';

export interface TokenAuthority {
  /** A token of one device; with `wrong`, one that is refused for that reason. */
  issue(deviceId: string, wrong?: WrongToken): Promise<{ token: string; claims: TokenClaims }>;
  /** Checks signature, algorithm, lifetime and every claim. Does not use the token up: the state does. */
  verify(token: string): Promise<Verified>;
}

export interface TokenAuthorityOptions {
  clock: Clock;
  random: Random;
  settings: Dialect['token'];
}

/**
 * Issues and verifies the JWTs of "Authentication" and "JWT claims". Throws `bad-dialect` where the settings
 * cannot make a token that is accepted: a key of another algorithm, a header that nobody understands.
 */
export async function createTokenAuthority(options: TokenAuthorityOptions): Promise<TokenAuthority> {
  try {
    const authority = buildAuthority(options, await loadKeys(options.settings));
    const verified = await authority.verify(await authority.signTrial());
    if (!verified.ok) throw new Error(verified.why);
    return authority;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new VoicectlError('bad-dialect', `The dialect's token settings make no usable token: ${why}`, {
      hint: 'Check token.algorithm, token.privateKey, token.header and token.extraClaims.',
      cause,
    });
  }
}

function buildAuthority({ clock, random, settings }: TokenAuthorityOptions, keys: Keys) {
  const sign = createSignToken({ settings, key: keys.signing });
  const claim = (deviceId: string, jti: string) =>
    buildClaims({ deviceId, issuer: settings.issuer, jti, nowMs: clock.wall() });
  return {
    /** A token that was issued to nobody, and takes no `jti` from the sequence of a seed. */
    signTrial: async () => sign(claim('trial', 'trial')),
    async issue(deviceId: string, wrong?: WrongToken) {
      const { jti, ...others } = spoilClaims(claim(deviceId, settings.jti ? random.id() : ''), wrong);
      const token = await sign(settings.jti ? { ...others, jti } : others);
      return {
        token: wrong === 'bad-signature' ? spoilSignature(token) : token,
        claims: { ...others, jti: settings.jti ? jti : hashOf(token) },
      };
    },
    async verify(token: string): Promise<Verified> {
      if (Buffer.byteLength(token) > maxTokenBytes) return invalid(`longer than ${maxTokenBytes} bytes`);
      // jose overlooks white space in a signature.
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return invalid('not three parts of base64url');
      try {
        const { payload } = await jwtVerify(token, keys.verifying, {
          algorithms: [settings.algorithm],
          audience,
          issuer: settings.issuer,
          requiredClaims: ['sub', 'iat', 'exp', ...(settings.jti ? ['jti'] : [])],
          currentDate: new Date(clock.wall()),
          clockTolerance: settings.clockToleranceSeconds,
        });
        const known = settings.jti ? payload : { ...payload, jti: hashOf(token) };
        const problem = claimsProblem(known, clock.wall() / 1000 + settings.clockToleranceSeconds);
        return problem === undefined
          ? { ok: true, claims: known as unknown as TokenClaims }
          : invalid(problem);
      } catch (thrown) {
        if (thrown instanceof errors.JWTExpired) return { ok: false, cause: 'tokenExpired', why: 'expired' };
        // Whatever else a hostile token makes the library throw: it is not accepted.
        return invalid(thrown instanceof Error ? thrown.message : String(thrown));
      }
    },
  };
}

/** Hex digits of a hash that name a token. */
const hashDigits = 32;

/** What names a token without `jti`. Its signature is left out: it can be encoded in two ways that both verify. */
function hashOf(token: string): string {
  const signed = token.slice(0, token.lastIndexOf('.'));
  return createHash('sha256').update(signed).digest('hex').slice(0, hashDigits);
}

const wrongBySeconds = 3_600;

function spoilClaims(claims: TokenClaims, wrong: WrongToken | undefined): TokenClaims {
  const shift = { expired: -wrongBySeconds, future: wrongBySeconds }[wrong as string] ?? 0;
  return {
    ...claims,
    iat: claims.iat + shift,
    exp: claims.exp + shift,
    ...(wrong === 'other-audience' ? { aud: `other-${audience}` as typeof audience } : {}),
    ...(wrong === 'other-issuer' ? { iss: `other-${claims.iss}` } : {}),
  };
}

/** Changes a character in the middle of the signature: the last one may hold bits that do not count. */
function spoilSignature(token: string): string {
  const at = Math.floor((token.lastIndexOf('.') + token.length) / 2);
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
}

function invalid(why: string): Verified {
  return { ok: false, cause: 'tokenInvalid', why };
}

/** What a library that verifies any JWT leaves to us: the lifetime is exactly 60 s, and the types of the claims. */
function claimsProblem({ sub, iat = 0, exp = 0, jti }: JWTPayload, latestIat: number): string | undefined {
  if (typeof sub !== 'string' || sub === '') return 'claim "sub" is not a device id';
  if (typeof jti !== 'string' || jti === '') return 'claim "jti" is not an identifier';
  if (exp - iat !== tokenLifetimeSeconds) return `lifetime is not ${tokenLifetimeSeconds} s`;
  return iat > latestIat ? 'claim "iat" is in the future' : undefined;
}

async function loadKeys({ algorithm, secret, privateKey }: Dialect['token']): Promise<Keys> {
  if (isSymmetric(algorithm)) {
    const bits = Number(algorithm.slice('HS'.length));
    const key =
      secret === undefined ? generateKeySync('hmac', { length: bits }) : createSecretKey(Buffer.from(secret));
    return { signing: key, verifying: key };
  }
  if (privateKey === undefined) {
    const pair = await generateKeyPair(algorithm);
    return { signing: pair.privateKey, verifying: pair.publicKey };
  }
  return { signing: await importPKCS8(privateKey, algorithm), verifying: createPublicKey(privateKey) };
}
