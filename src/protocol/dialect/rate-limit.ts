import * as z from 'zod';
import { resetFormats } from '../rate-limit.ts';

export const rateLimitSchema = z
  .strictObject({
    window: z
      .enum(['first-request', 'sliding'])
      .default('first-request')
      .describe(
        '`first-request`: the limit resets 60 s after the first request; `sliding`: each request counts for 60 s',
      ),
    counts: z
      .enum(['accepted', 'all'])
      .default('accepted')
      .describe('Which requests count: those that are answered with a token, or also those over the limit'),
    resetFormat: z.enum(resetFormats).default('seconds').describe('How X-RateLimit-Reset is written'),
    headersOn: z
      .enum(['all', 'success', 'limited'])
      .default('all')
      .describe('Which answers of a known device carry the three headers'),
    retryAfter: z
      .enum(['seconds', 'http-date', 'none'])
      .default('seconds')
      .describe('How Retry-After is written on a refusal for the limit'),
  })
  .prefault({});
