import { claimRules } from './claims.ts';
import { concurrencyRules } from './concurrency.ts';
import { expiryRules } from './expiry.ts';
import { invalidRequestRules } from './invalid-requests.ts';
import { rateLimitRules } from './rate-limit.ts';
import type { Rule } from './rule.ts';
import { streamRules } from './stream.ts';
import { tokenAnswerRules } from './token-answer.ts';
import { transportRules } from './transport.ts';

/** What the specification says of the service, as far as it shows from outside: R1 to R44, in their order. */
export const serviceRules: readonly Rule[] = [
  ...tokenAnswerRules,
  ...claimRules,
  ...invalidRequestRules,
  ...rateLimitRules,
  ...transportRules,
  ...streamRules,
  ...expiryRules,
  ...concurrencyRules,
];
