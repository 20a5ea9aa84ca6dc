import * as z from 'zod';
import { closeCodeSchema, closeReasonSchema } from '../close-code-schema.ts';
import { closeCodes } from '../close-codes.ts';

const refusals = {
  unauthorized: [401, 'INVALID_API_KEY', 'The API key is not accepted'],
  forbidden: [403, 'FORBIDDEN', 'This host or origin is not allowed'],
  notFound: [404, 'NOT_FOUND', 'There is nothing at this path'],
  methodNotAllowed: [405, 'METHOD_NOT_ALLOWED', 'This method is not allowed here'],
  requestTimeout: [408, 'REQUEST_TIMEOUT', 'The request did not arrive in time'],
  bodyTooLarge: [413, 'PAYLOAD_TOO_LARGE', 'The request body is too large'],
  unsupportedMediaType: [415, 'UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json'],
  upgradeRequired: [426, 'UPGRADE_REQUIRED', 'This path speaks WebSocket'],
  rateLimited: [429, 'RATE_LIMIT_EXCEEDED', 'Too many token requests for this device'],
  tooManyConnections: [429, 'CONNECTION_LIMIT_EXCEEDED', 'Too many connections'],
  headersTooLarge: [431, 'HEADERS_TOO_LARGE', 'The request headers are too large'],
  unavailable: [503, 'UNAVAILABLE', 'The service is stopping or full'],
} as const;

/** Why an HTTP request is refused, other than INVALID_REQUEST. */
export type RefusalCause = keyof typeof refusals;

const refusalStatus = z.int().min(400).max(599);
const status = refusalStatus.describe('HTTP status of the answer');
const code = z.string().min(1).describe('`error.code` of the answer');
const message = z.string().describe('`error.message` of the answer');

const refusalSchemas = mapValues(refusals, ([defaultStatus, defaultCode, defaultMessage]: Defaults) =>
  z
    .strictObject({
      status: status.default(defaultStatus),
      code: code.default(defaultCode),
      message: message.default(defaultMessage),
    })
    .prefault({}),
);

/** Why a request can be invalid; the dialect may give each case its own status. */
const invalidCases = {
  invalidJson: 'a body that is not valid JSON',
  notAnObject: 'JSON that is not an object',
  missingApiKey: 'no `apiKey`',
  missingDeviceId: 'no `deviceId`',
  emptyApiKey: 'an empty `apiKey`',
  emptyDeviceId: 'an empty `deviceId`',
  wrongType: 'a field that is not a string',
  tooLong: 'a field that is too long',
  badCharacters: 'a field with control characters or broken Unicode',
  badNesting: 'a body that is nested too deeply or contains a forbidden key',
  badHttp: 'a request that is not valid HTTP, or not a valid WebSocket handshake',
} as const;

/** Why a request is invalid. */
export type InvalidCase = keyof typeof invalidCases;

const caseSchemas = mapValues(invalidCases, (what: string) =>
  refusalStatus.optional().describe(`HTTP status for ${what}`),
);

/** The specification gives its code, and its message and details depend on the body; its status is open. */
const invalidRequestSchema = z
  .strictObject({
    status: status.default(400),
    statuses: z
      .strictObject(caseSchemas)
      .prefault({})
      .describe(
        `A separate status for some cases, if it differs from \`status\`: ${Object.entries(invalidCases)
          .map(([name, what]) => `\`${name}\` (${what})`)
          .join(', ')}`,
      ),
  })
  .prefault({});

export const refusalsSchema = z
  .strictObject({ invalidRequest: invalidRequestSchema, ...refusalSchemas })
  .prefault({})
  .describe('HTTP errors, by cause');

/** The defaults of a cause: a status or close code, and the code and message of the error. */
type Defaults = readonly [number: number, code: string, message: string];

/** The record with each value mapped. */
function mapValues<Keys extends string, In, Out>(
  record: Readonly<Record<Keys, In>>,
  map: (value: In) => Out,
) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value as In)])) as Record<
    Keys,
    Out
  >;
}

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
