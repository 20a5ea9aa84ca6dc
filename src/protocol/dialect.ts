import * as z from 'zod';
import { rateLimitSchema } from './dialect/rate-limit.ts';
import { refusalsSchema } from './dialect/refusals.ts';
import { streamSchema } from './dialect/stream.ts';
import { tokenSchema } from './dialect/token.ts';
import { describeIssue, readOnce, type SchemaProblem, type SecretNames } from './schema-problem.ts';

export type { CloseCause } from './dialect/closes.ts';
export type { InvalidCase, RefusalCause } from './dialect/refusals.ts';
export { isSigningAlgorithm, isSymmetric } from './dialect/token.ts';

/**
 * The dialect: every choice that the specification leaves open ("not shown"), as one validated value.
 * The emulator follows it; a client does not need it.
 */

/** The schema of a dialect file. Every field has a default: an empty object is a whole dialect. */
export const dialectSchema = z.strictObject({
  token: tokenSchema,
  refusals: refusalsSchema,
  rateLimit: rateLimitSchema,
  stream: streamSchema,
});

export type Dialect = z.output<typeof dialectSchema>;
/** A dialect as a user writes it: what is left out has its default. */
export type DialectInput = z.input<typeof dialectSchema>;

/** One problem of a dialect. */
export type DialectProblem = SchemaProblem;

export type ParsedDialect = { ok: true; dialect: Dialect } | { ok: false; problems: DialectProblem[] };

/** Validates a dialect as read from a file or given to the library. */
export function parseDialect(input: unknown): ParsedDialect {
  const result = dialectSchema.safeParse(input, readOnce);
  if (result.success) return { ok: true, dialect: result.data };
  return { ok: false, problems: result.error.issues.map((issue) => describeIssue(issue, dialectSecrets)) };
}

/** The dialect with the default of every setting. */
export function defaultDialect(): Dialect {
  return dialectSchema.parse({}, readOnce);
}

/** Settings whose values are never shown. */
export const dialectSecrets: SecretNames = new Set(['secret', 'privateKey']);
