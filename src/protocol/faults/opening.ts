import * as z from 'zod';
import { delay, type FaultSpec, fault, word } from './fault-spec.ts';

/** What can go wrong while a stream opens. */
export const openingFaults = {
  // The upgrade.
  'upgrade-refused': fault({
    at: 'upgrade',
    summary: 'the upgrade is answered with an error of this status',
    parameters: { status: z.int().min(400).max(599).default(503).describe('HTTP status') },
  }),
  'upgrade-slow': fault({ at: 'upgrade', summary: 'the upgrade comes late', parameters: delay }),
  'upgrade-hang': fault({ at: 'upgrade', summary: 'the upgrade is never answered', parameters: {} }),
  'upgrade-reset': fault({
    at: 'upgrade',
    summary: 'the connection of the upgrade is reset',
    parameters: {},
  }),

  // The token on the stream.
  'auth-refused': fault({
    at: 'authorise',
    summary: 'a good token is refused on the stream, in the wording of the dialect',
    parameters: {
      cause: z
        .enum(['tokenInvalid', 'tokenExpired', 'tokenReused'])
        .default('tokenInvalid')
        .describe('The reason that is given: invalid, expired or used before'),
    },
  }),
  'connection-limit': fault({
    at: 'authorise',
    summary: 'the device has too many connections, in the wording of the dialect',
    parameters: {},
  }),

  // The first message of the service.
  'connected-late': fault({
    at: 'connected',
    summary: 'the connected message comes late; audio is accepted meanwhile',
    parameters: delay,
  }),
  'connected-missing': fault({
    at: 'connected',
    summary: 'the connected message never comes',
    parameters: {},
  }),
  'connected-malformed': fault({
    at: 'connected',
    summary: 'the connected message is cut off, so that it is not valid JSON',
    parameters: {},
  }),
  'connected-unknown': fault({
    at: 'connected',
    summary: 'a message of another kind comes instead',
    parameters: { kind: word('service_hello', 'Kind of the message') },
  }),
} as const satisfies Record<string, FaultSpec>;
