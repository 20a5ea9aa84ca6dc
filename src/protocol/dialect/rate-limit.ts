import * as z from 'zod';
import { resetFormats } from '../rate-limit.ts';

export const rateLimitSchema = z
  .strictObject({
    window: z
      .enum(['first-request', 'sliding', 'token-bucket', 'calendar-minute'])
      .default('first-request')
      .describe(
        '`first-request`: the limit resets 60 s after the first request; `sliding`: each request counts for 60 s; `token-bucket`: requests come back one by one, all of them in 60 s; `calendar-minute`: the limit resets at each full minute',
      ),
    counts: z
      .enum(['accepted', 'all'])
      .default('accepted')
      .describe('Which requests count: those that are answered with a token, or also those over the limit'),
    countsInvalid: z
      .boolean()
      .default(false)
      .describe(
        'Whether requests that are refused as invalid, or for their key, count too, where they name a device',
      ),
    resetFormat: z.enum(resetFormats).default('seconds').describe('Format of X-RateLimit-Reset'),
    headersOn: z
      .enum(['all', 'success', 'limited'])
      .default('all')
      .describe('Which answers of a known device carry the three headers'),
    headersOnInvalid: z
      .boolean()
      .default(false)
      .describe(
        'Whether answers to requests that are refused as invalid, or for their key, carry the three headers, where they name a device',
      ),
    retryAfter: z
      .enum(['seconds', 'http-date', 'none'])
      .default('seconds')
      .describe('Format of Retry-After when the limit is exceeded'),
  })
  .prefault({});
