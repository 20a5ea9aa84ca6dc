import { claimRules } from './claims.ts';
import { concurrencyRules } from './concurrency.ts';
import { expiryRules, reuseRule } from './expiry.ts';
import { invalidRequestRules } from './invalid-requests.ts';
import { rateLimitRules } from './rate-limit.ts';
import type { Rule } from './rule.ts';
import { streamRules } from './stream.ts';
import { tokenAnswerRules } from './token-answer.ts';
import { transportRules } from './transport.ts';

/** The sentences of the specification that can be checked from outside: R1 to R45, in order. */
export const serviceRules: readonly Rule[] = [
  ...tokenAnswerRules,
  ...claimRules,
  ...invalidRequestRules,
  ...rateLimitRules,
  ...transportRules,
  ...streamRules,
  ...expiryRules,
  ...concurrencyRules,
  reuseRule,
];
