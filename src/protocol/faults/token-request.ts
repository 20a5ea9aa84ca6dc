import * as z from 'zod';
import { delay, duration, type FaultSpec, fault, text, word } from '../fault-spec.ts';

/** What can go wrong with a token request. */
export const tokenRequestFaults = {
  'token-error': fault({
    at: 'token',
    summary: 'the token request is answered with an error of this status and code',
    parameters: {
      status: z.int().min(400).max(599).default(500).describe('HTTP status'),
      code: word('INTERNAL_ERROR', 'Error code of the body'),
      message: text('The service has failed', 'Error message of the body'),
    },
  }),
  'token-unauthorized': fault({
    at: 'token',
    summary: 'the API key is refused, in the wording of the dialect',
    parameters: {},
  }),
  'token-unavailable': fault({
    at: 'token',
    summary: 'the service is unavailable, in the wording of the dialect',
    parameters: {},
  }),
  'rate-limited': fault({
    at: 'token',
    summary: 'the device is rate limited, with the headers of an exhausted window',
    parameters: { reset: duration('60s', 'Until the window resets') },
  }),
  'token-slow': fault({ at: 'token', summary: 'the token is late', parameters: delay }),
  'token-hang': fault({ at: 'token', summary: 'the token request is never answered', parameters: {} }),
  'token-reset': fault({
    at: 'token',
    summary: 'the connection of the token request is reset',
    parameters: {},
  }),
  'token-redirect': fault({
    at: 'token',
    summary: 'the token request is redirected (307)',
    parameters: {
      location: z
        .string()
        .regex(/^[\u0021-\u007e]+$/, 'expected a URL in ASCII')
        .default('/moved')
        .describe('Where to'),
    },
  }),
  'token-truncated': fault({ at: 'token', summary: 'the JSON body ends too early', parameters: {} }),
  'token-html': fault({
    at: 'token',
    summary: 'the answer is an HTML page with status 200, as from a proxy',
    parameters: {},
  }),
  'token-missing': fault({ at: 'token', summary: 'the body has no token', parameters: {} }),
  'token-huge': fault({ at: 'token', summary: 'the token is 1 MiB long', parameters: {} }),
  'token-gibberish': fault({ at: 'token', summary: 'the token is not a JWT', parameters: {} }),
  'token-expired': fault({
    at: 'token',
    summary: 'the token expired an hour ago; the stream will refuse it',
    parameters: {},
  }),
  'token-future': fault({
    at: 'token',
    summary: 'the token is issued an hour in the future; the stream will refuse it',
    parameters: {},
  }),
  'token-other-audience': fault({
    at: 'token',
    summary: 'the token is for another audience; the stream will refuse it',
    parameters: {},
  }),
  'token-other-issuer': fault({
    at: 'token',
    summary: 'the token has another issuer; the stream will refuse it',
    parameters: {},
  }),
  'token-bad-signature': fault({
    at: 'token',
    summary: 'the signature is wrong; the stream will refuse the token',
    parameters: {},
  }),
} as const satisfies Record<string, FaultSpec>;
