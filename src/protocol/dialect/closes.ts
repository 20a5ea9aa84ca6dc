import * as z from 'zod';
import { closeCodeSchema, closeReasonSchema } from '../close-code-schema.ts';
import { closeCodes } from '../close-codes.ts';
import { type Defaults, mapValues } from './cause.ts';

const closes = {
  tokenTimeout: [4408, 'TOKEN_TIMEOUT', 'No token arrived in time'],
  tokenInvalid: [4401, 'INVALID_TOKEN', 'The token is not valid'],
  tokenExpired: [4401, 'TOKEN_EXPIRED', 'The token has expired'],
  tokenReused: [4401, 'TOKEN_REUSED', 'The token has been used already'],
  tooManyConnections: [
    closeCodes.tooManyConnections,
    'CONNECTION_LIMIT_EXCEEDED',
    'Too many connections for this device',
  ],
  earlyAudioOverflow: [1008, 'TOO_MUCH_AUDIO_BEFORE_TOKEN', 'Too much audio before the token'],
  unexpectedText: [1008, 'UNEXPECTED_TEXT', 'Only binary audio is expected after the token'],
  oddBytes: [1007, 'ODD_AUDIO', 'An audio message ended in the middle of a sample'],
  evicted: [
    closeCodes.tooManyConnections,
    'CONNECTION_REPLACED',
    'A newer connection of this device takes its place',
  ],
  unavailable: [closeCodes.tryAgainLater, 'UNAVAILABLE', 'The service is full'],
  idle: [4408, 'IDLE_TIMEOUT', 'Nothing arrived for too long'],
  sessionTooLong: [1000, 'SESSION_TOO_LONG', 'The stream has reached its maximum duration'],
  sessionExpired: [4401, 'TOKEN_EXPIRED', 'The token of this stream has expired'],
  slowReader: [1013, 'SLOW_READER', 'The device does not read'],
  shutdown: [1001, 'SHUTTING_DOWN', 'The service is stopping'],
} as const;

/** Why the service closes a stream. */
export type CloseCause = keyof typeof closes;

const closeCode = z
  .union([closeCodeSchema, z.literal([closeCodes.noStatus, closeCodes.abnormal])])
  .describe(
    'WebSocket close code; 1005: a close frame without a code, 1006: the connection ends without a close frame',
  );
const closeReason = closeReasonSchema.describe('Close reason, at most 123 bytes of UTF-8');

const closeSchemas = mapValues(closes, ([defaultClose, defaultCode, defaultMessage]: Defaults) =>
  z
    .strictObject({
      close: closeCode.default(defaultClose),
      reason: closeReason.default(defaultMessage),
      code: z.string().min(1).default(defaultCode).describe('Code in the error message before the close'),
      message: z.string().default(defaultMessage).describe('Text of the error message before the close'),
    })
    .prefault({}),
);

export const closesSchema = z
  .strictObject(closeSchemas)
  .prefault({})
  .describe('Close code, reason and error message, by cause');
