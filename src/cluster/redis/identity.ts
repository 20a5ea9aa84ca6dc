import { createHash, generateKeyPairSync, type KeyPairKeyObjectResult, randomBytes } from 'node:crypto';
import { VoicectlError } from '../../kernel/errors.ts';
import { newSecret } from '../../kernel/new-secret.ts';
import { version } from '../../kernel/version.ts';
import { type Dialect, isSymmetric } from '../../protocol/dialect.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { ownValue } from '../../protocol/parse-json.ts';

/** What must be the same in all emulators that are one service. */
export interface Identity {
  version: string;
  rateLimit: number;
  maxConnections: number;
  /** Hash of the control secret, if it is given. */
  controlSecret: string | null;
  /** The initial faults. */
  faults: unknown[];
  /** With hashes in place of secrets. */
  dialect: unknown;
}

export interface IdentityFacts {
  dialect: Dialect;
  rateLimit: number;
  maxConnections: number;
  controlSecret: string | undefined;
  faults: unknown[];
}

export function identityOf({ dialect, controlSecret, ...rest }: IdentityFacts): Identity {
  const { secret, privateKey, ...token } = dialect.token;
  return {
    version,
    ...rest,
    controlSecret: hashOf(controlSecret),
    dialect: { ...dialect, token: { ...token, secret: hashOf(secret), privateKey: hashOf(privateKey) } },
  };
}

/** The secrets that all emulators of a service share through Redis. */
export interface SharedSecrets {
  algorithm: string;
  /** Signs tokens: for HS* a text, else a private key as PKCS #8 PEM. */
  key: string;
  /** Whether the dialect gives the key. */
  isGiven: boolean;
  /** The secret of the control API. */
  control: string;
  isControlGiven: boolean;
}

/** The secrets that the options give, and new ones for those they do not give. */
export function secretsOf({ dialect, controlSecret }: IdentityFacts): SharedSecrets {
  const { algorithm, secret, privateKey } = dialect.token;
  const given = isSymmetric(algorithm) ? secret : privateKey;
  return {
    algorithm,
    key: given ?? newKey(algorithm),
    isGiven: given !== undefined,
    control: controlSecret ?? newSecret(),
    isControlGiven: controlSecret !== undefined,
  };
}

/** The dialect's token settings with the key that all emulators use. */
export function withKey(token: Dialect['token'], { key }: SharedSecrets): Dialect['token'] {
  return isSymmetric(token.algorithm) ? { ...token, secret: key } : { ...token, privateKey: key };
}

function newKey(algorithm: Dialect['token']['algorithm']): string {
  if (isSymmetric(algorithm)) return randomBytes(64).toString('base64url');
  const makePair = pairMakers[algorithm] ?? (() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
  return makePair().privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** The algorithms with other keys than RSA. */
const pairMakers: Partial<Record<Dialect['token']['algorithm'], () => KeyPairKeyObjectResult>> = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

function hashOf(secret: string | undefined): string | null {
  return secret === undefined ? null : createHash('sha256').update(secret).digest('hex').slice(0, 16);
}

/** Maximum number of differences that are named. */
const maxNamed = 5;
/** Differences that are named without their values. */
const isSecret = /(?:secret|privateKey)$/i;

/** The error (`bad-config`) for a start with settings that differ from those of the service. Names what differs. */
export function differenceError(running: Identity, mine: Identity): VoicectlError {
  const all = differences(running, mine, '');
  const named = all.slice(0, maxNamed).join('; ');
  const more = all.length > maxNamed ? `; and ${all.length - maxNamed} more` : '';
  return new VoicectlError(
    'bad-config',
    `The emulators that use this Redis run with different settings: ${named}${more}`,
    {
      hint: 'Use the same settings, or form a separate service with --shared-prefix.',
    },
  );
}

function differences(theirs: unknown, mine: unknown, path: string): string[] {
  if (JSON.stringify(theirs) === JSON.stringify(mine)) return [];
  if (isRecord(theirs) && isRecord(mine)) {
    const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
    return [...names].flatMap((name) =>
      differences(ownValue(theirs, name), ownValue(mine, name), path === '' ? name : `${path}.${name}`),
    );
  }
  if (isSecret.test(path)) return [`${path} differs`];
  return [`${path} is ${JSON.stringify(theirs)} there and ${JSON.stringify(mine)} here`];
}
