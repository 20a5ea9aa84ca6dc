import {
  createHash,
  createPublicKey,
  createSecretKey,
  hash as digest,
  generateKeySync,
  KeyObject,
} from 'node:crypto';
import {
  type CryptoKey,
  errors,
  generateKeyPair,
  importPKCS8,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf, VoicectlError } from '../../kernel/errors.ts';
import { audience, buildClaims, type TokenClaims, tokenLifetimeSeconds } from '../../protocol/claims.ts';
import { type CloseCause, type Dialect, isSymmetric } from '../../protocol/dialect.ts';
import { firstTextProblem, type TokenProblem } from '../../protocol/first-message.ts';
import { maxFieldLength } from '../../protocol/token-request.ts';
import { spoilClaims, spoilSignature, type WrongToken } from '../../service/faults/token-faults.ts';
import type { Random } from '../../service/random.ts';
import { type Eventual, whenKnown } from '../../service/state/state.ts';
import { readUnverified, roundedSecondsText, verifyProblem } from './token-problem.ts';

type Key = CryptoKey | KeyObject;
type Keys = { signing: Key; verifying: Key };

export type Verified = { ok: true; claims: TokenClaims } | RefusedToken;

/** A token that is not accepted. */
export interface RefusedToken extends TokenProblem {
  ok: false;
  cause: Extract<CloseCause, 'tokenInvalid' | 'tokenExpired'>;
  /** The device that the token names; not verified. */
  device?: string;
  jti?: string;
}

export interface IssuedToken {
  token: string;
  claims: TokenClaims;
}

export interface TokenAuthority {
  /** Issues a token for one device; with `wrong`, one that `verify` refuses for that reason. */
  issue(deviceId: string, wrong?: WrongToken): Eventual<IssuedToken>;
  /** Checks signature, algorithm, lifetime and every claim. Does not use the token up: the state does. */
  verify(token: string): Promise<Verified>;
}

export interface TokenAuthorityOptions {
  clock: Clock;
  random: Random;
  settings: Dialect['token'];
  /** How far the clocks of emulators that are one service may differ, milliseconds. Default 0. */
  clockErrorMs?: number | undefined;
}

/**
 * Issues and verifies the JWTs of "Authentication" and "JWT claims". Throws `bad-dialect` if the settings
 * cannot make a valid token: a key of another algorithm, an unknown header.
 */
export async function createTokenAuthority(options: TokenAuthorityOptions): Promise<TokenAuthority> {
  try {
    const authority = buildAuthority(options, await loadKeys(options.settings));
    const verified = await authority.verify(await authority.signTrial());
    if (!verified.ok) throw new Error(verified.why);
    return authority;
  } catch (cause) {
    const why = messageOf(cause);
    throw new VoicectlError(
      'bad-dialect',
      `The dialect's token settings do not produce a usable token: ${why}`,
      {
        hint: 'Check token.algorithm, token.privateKey, token.header and token.extraClaims.',
        cause,
      },
    );
  }
}

function buildAuthority({ clock, random, settings, clockErrorMs = 0 }: TokenAuthorityOptions, keys: Keys) {
  const sign = createSignToken({ settings, key: keys.signing });
  const issued = createIssuedIds();
  const claim = (deviceId: string, jti: string) =>
    buildClaims({ deviceId, issuer: settings.issuer, jti, nowMs: clock.wall() });
  return {
    /** A token for a check: it is never issued, and takes no `jti` from the sequence of a seed. */
    signTrial: async () => sign(claim('trial', 'trial')),
    issue(deviceId: string, wrong?: WrongToken) {
      const right = claim(deviceId, settings.jti ? random.id() : '');
      const claims = wrong === undefined ? right : spoilClaims(right, wrong);
      return whenKnown(sign(settings.jti ? claims : withoutJti(claims)), (token) => {
        if (!settings.jti) claims.jti = hashOf(token);
        issued.add(claims.jti);
        return { token: wrong === 'bad-signature' ? spoilSignature(token) : token, claims };
      });
    },
    async verify(token: string): Promise<Verified> {
      // jose ignores white space in a signature.
      const malformed = firstTextProblem(token);
      const named = readUnverified(token);
      const device = named.sub === undefined ? {} : { device: named.sub };
      if (malformed !== undefined) return { ok: false, cause: 'tokenInvalid', ...malformed, ...device };
      const refuse = (problem: TokenProblem, cause: RefusedToken['cause'] = 'tokenInvalid'): Verified => ({
        ok: false,
        cause,
        ...problem,
        ...device,
        ...(named.jti === undefined ? {} : { jti: named.jti.slice(0, maxFieldLength) }),
      });
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
        const nowSeconds = (clock.wall() + clockErrorMs) / 1000;
        const problem = claimsProblem(known, nowSeconds + settings.clockToleranceSeconds);
        if (problem !== undefined) return refuse(problem);
        return { ok: true, claims: known as unknown as TokenClaims };
      } catch (thrown) {
        // Any error that the library throws on a hostile token means that it is refused.
        const problem = verifyProblem(thrown, {
          nowSeconds: clock.wall() / 1000,
          algorithm: settings.algorithm,
          issuer: settings.issuer,
          audience,
          isOurs: issued.has((settings.jti ? named.jti : undefined) ?? hashOf(token)),
        });
        return refuse(problem, thrown instanceof errors.JWTExpired ? 'tokenExpired' : 'tokenInvalid');
      }
    },
  };
}

/** At least this many token identifiers are remembered, to tell an altered token from a foreign one. */
const minIssued = 10_000;

/** Forgets a whole set at a time: to find its oldest item, a set passes every item that it has deleted. */
function createIssuedIds() {
  let newer = new Set<string>();
  let older = new Set<string>();
  return {
    has: (id: string) => newer.has(id) || older.has(id),
    add(id: string) {
      newer.add(id);
      if (newer.size < minIssued) return;
      older = newer;
      newer = new Set();
    },
  };
}

/** Hex digits of a hash that name a token. */
const hashDigits = 32;

/** Names a token without `jti`. Leaves out its signature, which has two encodings that both verify. */
function hashOf(token: string): string {
  const signed = token.slice(0, token.lastIndexOf('.'));
  return createHash('sha256').update(signed).digest('hex').slice(0, hashDigits);
}

function withoutJti({ jti: _, ...others }: TokenClaims): Omit<TokenClaims, 'jti'> {
  return others;
}

/** Checks that the library leaves to us: a lifetime of exactly 60 s, and the types of the claims. */
function claimsProblem(
  { sub, iat = 0, exp = 0, jti }: JWTPayload,
  latestIat: number,
): TokenProblem | undefined {
  const advice = 'request the token from this emulator';
  if (typeof sub !== 'string' || sub === '') return { why: 'the sub claim is not a device ID', advice };
  if (typeof jti !== 'string' || jti === '') return { why: 'the jti claim is not an identifier', advice };
  if (exp - iat !== tokenLifetimeSeconds)
    return { why: `the lifetime of the token is ${exp - iat} s, expected ${tokenLifetimeSeconds} s`, advice };
  if (iat <= latestIat) return undefined;
  return { why: `the token will not be valid for another ${roundedSecondsText(iat - latestIat)}`, advice };
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

/** Makes the JWT of these claims. */
type SignToken = (claims: Omit<TokenClaims, 'jti'> & { jti?: string }) => string | Promise<string>;

interface SignTokenOptions {
  settings: Dialect['token'];
  /** The private key; for an HS* algorithm the shared secret. */
  key: KeyObject | CryptoKey;
}

/** The hash of each symmetric algorithm (RFC 7518, section 3.2). */
const hashes: Partial<Record<Dialect['token']['algorithm'], MacHash>> = {
  HS256: 'sha256',
  HS384: 'sha384',
  HS512: 'sha512',
};

/**
 * Signs with the key of the dialect. HMAC is computed here, because jose does it in another thread, and the change of
 * threads takes many times as long as the hash. jose does all other signing, and all verifying.
 */
export function createSignToken({ settings, key }: SignTokenOptions): SignToken {
  const header = { typ: 'JWT', ...settings.header, alg: settings.algorithm };
  const hash = hashes[settings.algorithm];
  if (hash === undefined || !(key instanceof KeyObject)) {
    return (claims) =>
      new SignJWT({ ...settings.extraClaims, ...claims }).setProtectedHeader(header).sign(key);
  }
  const encodedHeader = encode(header);
  const mac = createMac(hash, key.export());
  return (claims) => {
    const text = `${encodedHeader}.${encode({ ...settings.extraClaims, ...claims })}`;
    return `${text}.${mac(text)}`;
  };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A hash and the size of its blocks, bytes (FIPS 180-4). */
const blockBytes = { sha256: 64, sha384: 128, sha512: 128 };

export type MacHash = keyof typeof blockBytes;

/**
 * HMAC (RFC 2104) of ASCII text, as base64url. The same as Node's `createHmac`, which makes an object and a context for
 * each text: with these two hashes alone, 10 % more token requests are answered (bench: `token-rate`).
 */
export function createMac(hash: MacHash, secret: Buffer): (text: string) => string {
  const block = blockBytes[hash];
  const key = Buffer.alloc(block);
  (secret.length > block ? digest(hash, secret, 'buffer') : secret).copy(key);
  const inner = key.map((byte) => byte ^ 0x36);
  const outer = Buffer.concat([key.map((byte) => byte ^ 0x5c), digest(hash, '', 'buffer')]);
  return (text) => {
    const message = Buffer.allocUnsafe(block + text.length);
    message.set(inner);
    message.write(text, block, 'latin1');
    outer.write(digest(hash, message, 'binary'), block, 'latin1');
    return digest(hash, outer, 'base64url');
  };
}
