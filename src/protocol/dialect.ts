import * as z from 'zod';
import { reservedClaims, tokenLifetimeSeconds } from './claims.ts';
import { refusalsSchema } from './dialect/causes.ts';
import { streamSchema } from './dialect/stream.ts';
import { jsonFields } from './dialect/templates.ts';
import { resetFormats, retryAfterFormats } from './rate-limit.ts';
import { describeIssues, readOnce, type SchemaProblem, type SecretNames } from './schema-problem.ts';

export type { CloseCause, InvalidCase, RefusalCause } from './dialect/causes.ts';

/**
 * The dialect: every choice that the specification leaves open ("not shown"), as one validated value.
 * The emulator follows it; a device does not need it.
 */

const symmetricAlgorithms = ['HS256', 'HS384', 'HS512'] as const;
const asymmetricAlgorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const;
const algorithms = [...symmetricAlgorithms, ...asymmetricAlgorithms] as const;
export type SigningAlgorithm = (typeof algorithms)[number];

/** Whether the dialect can name this `alg`. */
export function isSigningAlgorithm(alg: unknown): alg is SigningAlgorithm {
  return (algorithms as readonly unknown[]).includes(alg);
}

/** Whether an algorithm signs and verifies with one shared secret. */
export function isSymmetric(algorithm: SigningAlgorithm): boolean {
  return (symmetricAlgorithms as readonly string[]).includes(algorithm);
}

const tokenSchema = z
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
      .describe('Private key of any other algorithm, as PKCS #8 PEM; default: a new key pair at each start'),
    issuer: z.string().min(1).default('voicectl-emulator').describe('The `iss` claim'),
    header: jsonFields
      .refine((fields) => !Object.keys(fields).includes('alg'), {
        error: 'expected fields other than alg, which algorithm sets',
      })
      .default({})
      .describe('Further fields of the JWT header, such as `kid`'),
    extraClaims: jsonFields
      .refine((claims) => !Object.keys(claims).some((name) => reservedClaims.includes(name)), {
        error: `expected claims other than ${reservedClaims.join(', ')}`,
      })
      .default({})
      .describe('Claims that are not in the specification'),
    jti: z
      .boolean()
      .default(true)
      .describe(
        'Whether tokens carry the `jti` claim; without it, two tokens that a device gets in the same second are identical',
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

const rateLimitSchema = z
  .strictObject({
    window: z
      .enum(['first-request', 'sliding', 'token-bucket', 'calendar-minute'])
      .default('first-request')
      .describe(
        '`first-request`: the limit resets 60 s after the first request; `sliding`: each request counts for 60 s; `token-bucket`: the allowance refills one request at a time, completely within 60 s; `calendar-minute`: the limit resets at each full minute',
      ),
    counts: z
      .enum(['accepted', 'all'])
      .default('accepted')
      .describe('Which requests count: those that are answered with a token, or also those over the limit'),
    countsInvalid: z
      .boolean()
      .default(false)
      .describe(
        'Whether requests that are refused as invalid or because of their key also count, if they name a device',
      ),
    resetFormat: z.enum(resetFormats).default('seconds').describe('Format of X-RateLimit-Reset'),
    headersOn: z
      .enum(['all', 'success', 'limited'])
      .default('all')
      .describe('Which answers to a known device carry the three headers'),
    headersOnInvalid: z
      .boolean()
      .default(false)
      .describe(
        'Whether answers to requests that are refused as invalid or because of their key carry the three headers, if they name a device',
      ),
    retryAfter: z
      .enum(retryAfterFormats)
      .default('seconds')
      .describe('Format of Retry-After when the limit is exceeded'),
  })
  .prefault({});

/** The schema of a dialect file. Every field has a default: an empty object is a complete dialect. */
export const dialectSchema = z.strictObject({
  token: tokenSchema,
  refusals: refusalsSchema,
  rateLimit: rateLimitSchema,
  stream: streamSchema,
});

export type Dialect = z.output<typeof dialectSchema>;
/** A dialect as a user writes it: what is left out has its default. */
export type DialectInput = z.input<typeof dialectSchema>;

export type DialectProblem = SchemaProblem;

export type ParsedDialect = { ok: true; dialect: Dialect } | { ok: false; problems: DialectProblem[] };

/** Validates a dialect as read from a file or given to the library. */
export function parseDialect(input: unknown): ParsedDialect {
  const result = dialectSchema.safeParse(input, readOnce);
  if (result.success) return { ok: true, dialect: result.data };
  return { ok: false, problems: describeIssues(result.error.issues, dialectSecrets) };
}

/** The dialect with the default of every setting. */
export function defaultDialect(): Dialect {
  return dialectSchema.parse({}, readOnce);
}

/** Settings whose values are never shown. */
export const dialectSecrets: SecretNames = new Set(['secret', 'privateKey']);
