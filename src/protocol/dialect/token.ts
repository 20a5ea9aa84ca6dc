import * as z from 'zod';
import { reservedClaims, tokenLifetimeSeconds } from '../claims.ts';
import { jsonFields } from './fields.ts';

const symmetricAlgorithms = ['HS256', 'HS384', 'HS512'] as const;
const asymmetricAlgorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const;
const algorithms = [...symmetricAlgorithms, ...asymmetricAlgorithms] as const;
type SigningAlgorithm = (typeof algorithms)[number];

/** Whether the dialect can name this `alg`. */
export function isSigningAlgorithm(alg: unknown): alg is SigningAlgorithm {
  return (algorithms as readonly unknown[]).includes(alg);
}

/** Whether an algorithm signs and verifies with one shared secret. */
export function isSymmetric(algorithm: SigningAlgorithm): boolean {
  return (symmetricAlgorithms as readonly string[]).includes(algorithm);
}

export const tokenSchema = z
  .strictObject({
    algorithm: z.enum(algorithms).default('HS256').describe('JWT signing algorithm'),
    secret: z
      .string()
      .min(32)
      .optional()
      .describe('Secret of an HS* algorithm; default: a random one at each start'),
    privateKey: z
      .string()
      .startsWith('-----BEGIN PRIVATE KEY-----')
      .optional()
      .describe('Private key of another algorithm, as PKCS #8 PEM; default: a new key pair at each start'),
    issuer: z.string().min(1).default('voicectl-emulator').describe('Claim `iss`'),
    header: jsonFields.default({}).describe('Further fields of the JWT header, such as `kid`'),
    extraClaims: jsonFields
      .refine((claims) => !Object.keys(claims).some((name) => reservedClaims.includes(name)), {
        error: `expected claims other than ${reservedClaims.join(', ')}`,
      })
      .default({})
      .describe('Claims beside those of the specification'),
    jti: z
      .boolean()
      .default(true)
      .describe(
        'Whether tokens carry the claim `jti`; without it two tokens of one device and second are the same token',
      ),
    singleUse: z.boolean().default(true).describe('Whether a token opens one connection only'),
    clockToleranceSeconds: z
      .number()
      .min(0)
      .max(tokenLifetimeSeconds)
      .default(0)
      .describe('How long past `exp`, or before `iat`, a token is still accepted'),
  })
  .prefault({});
