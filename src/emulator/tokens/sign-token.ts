import { KeyObject } from 'node:crypto';
import { type CryptoKey, SignJWT } from 'jose';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { createMac, type MacHash } from './mac.ts';

/** Makes the JWT of these claims. */
export type SignToken = (claims: Omit<TokenClaims, 'jti'> & { jti?: string }) => string | Promise<string>;

export interface SignTokenOptions {
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
