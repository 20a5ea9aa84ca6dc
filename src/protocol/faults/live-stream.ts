import { closeCodeSchema, closeReasonSchema } from '../close-code-schema.ts';
import { after, duration, type FaultSpec, fault, text, word } from './fault-spec.ts';

/** What can go wrong on a live stream: its messages and its end. */
export const liveStreamFaults = {
  'message-malformed': fault({
    at: 'live',
    summary: 'a text message that is not valid JSON',
    parameters: after,
  }),
  'message-unknown': fault({
    at: 'live',
    summary: 'a message of an unknown kind',
    parameters: { ...after, kind: word('service_unheard_of', 'Kind of the message') },
  }),
  'message-error': fault({
    at: 'live',
    summary: 'an error message, in the wording of the dialect; the stream goes on',
    parameters: {
      ...after,
      code: word('INTERNAL_ERROR', 'Error code'),
      message: text('The service has failed', 'Error message'),
    },
  }),
  close: fault({
    at: 'live',
    summary: 'the stream is closed with a code',
    parameters: {
      ...after,
      code: closeCodeSchema.default(1011).describe('Close code'),
      reason: closeReasonSchema.default('').describe('Close reason'),
    },
  }),
  'abnormal-close': fault({
    at: 'live',
    summary: 'the connection ends without a close frame (1006)',
    parameters: after,
  }),
  reset: fault({ at: 'live', summary: 'the connection is reset', parameters: after }),
  'half-open': fault({
    at: 'live',
    summary: 'the service disappears: it sends nothing, reads nothing and answers no ping',
    parameters: after,
  }),
  stall: fault({
    at: 'live',
    summary: 'the service sends nothing for a while, then everything at once',
    parameters: { ...after, for: duration('3s', 'How long') },
  }),
  deaf: fault({
    at: 'live',
    summary: 'the service stops reading, so that the client’s socket fills up; it goes on sending',
    parameters: after,
  }),
} as const satisfies Record<string, FaultSpec>;
