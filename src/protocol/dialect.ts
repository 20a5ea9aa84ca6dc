import * as z from 'zod';
import { defaultFrameMs } from './audio-format.ts';
import { reservedClaims, tokenLifetimeSeconds } from './claims.ts';
import { closeCodeSchema, closeReasonSchema } from './close-code-schema.ts';
import { closeCodes } from './close-codes.ts';
import { resetFormats } from './rate-limit.ts';
import { describeIssue, type SchemaProblem, type SecretNames } from './schema-problem.ts';

/**
 * The dialect: every choice that the specification leaves open ("not shown"), as one validated value.
 * The emulator reads it and takes no side of its own; a client never needs it.
 */

const jsonFields = z.record(z.string(), z.json());

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
  headersTooLarge: [431, 'HEADERS_TOO_LARGE', 'The request headers are too large'],
  unavailable: [503, 'UNAVAILABLE', 'The service is stopping or full'],
} as const;

/** Why an HTTP request is refused, INVALID_REQUEST aside. */
export type RefusalCause = keyof typeof refusals;

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
  oddBytes: [1007, 'ODD_AUDIO', 'An audio message ended within a sample'],
  sessionExpired: [4401, 'TOKEN_EXPIRED', 'The token of this stream has expired'],
  slowReader: [1013, 'SLOW_READER', 'The client does not read'],
  shutdown: [1001, 'SHUTTING_DOWN', 'The service is stopping'],
} as const;

/** Why the service closes a stream. */
export type CloseCause = keyof typeof closes;

type Defaults = readonly [number: number, code: string, message: string];

function mapValues<Keys extends string, In, Out>(
  record: Readonly<Record<Keys, In>>,
  map: (value: In) => Out,
) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value as In)])) as Record<
    Keys,
    Out
  >;
}

const status = z.int().min(400).max(599).describe('HTTP status of the answer');
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

/** The specification gives the code of this one, and its message and details follow the body; its status is open. */
const invalidRequestSchema = z.strictObject({ status: status.default(400) }).prefault({});

const closeCode = closeCodeSchema.describe('WebSocket close code');
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

const symmetricAlgorithms = ['HS256', 'HS384', 'HS512'] as const;
const asymmetricAlgorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const;
const algorithms = [...symmetricAlgorithms, ...asymmetricAlgorithms] as const;
export type SigningAlgorithm = (typeof algorithms)[number];

/** Whether an algorithm signs and verifies with one shared secret. */
export function isSymmetric(algorithm: SigningAlgorithm): boolean {
  return (symmetricAlgorithms as readonly string[]).includes(algorithm);
}

const tokenSchema = z
  .strictObject({
    algorithm: z.enum(algorithms).default('HS256').describe('JWT signing algorithm'),
    secret: z
      .string()
      .min(32)
      .optional()
      .describe('Secret of an HS* algorithm; without it a random one is made at each start'),
    privateKey: z
      .string()
      .startsWith('-----BEGIN PRIVATE KEY-----')
      .optional()
      .describe('PKCS #8 PEM of another algorithm; without it a key pair is made at each start'),
    issuer: z.string().min(1).default('voicectl-emulator').describe('Claim `iss`'),
    header: jsonFields.default({}).describe('Further fields of the JWT header, such as `kid`'),
    extraClaims: jsonFields
      .refine((claims) => !Object.keys(claims).some((name) => reservedClaims.includes(name)), {
        error: `expected claims other than ${reservedClaims.join(', ')}`,
      })
      .default({})
      .describe('Claims beside those of the specification'),
    singleUse: z.boolean().default(true).describe('Whether a token opens one connection only'),
    clockToleranceSeconds: z
      .number()
      .min(0)
      .max(tokenLifetimeSeconds)
      .default(0)
      .describe('How long past `exp`, or before `iat`, a token is still accepted'),
  })
  .prefault({});

const rateLimitSchema = z
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

const streamSchema = z
  .strictObject({
    kindField: z.string().min(1).default('type').describe('Field that names the kind of a service message'),
    connected: z
      .strictObject({ fields: jsonFields.default({}).describe('Further fields of the message') })
      .prefault({})
      .describe('The service_voice_connected message'),
    status: z
      .strictObject({
        send: z.boolean().default(true).describe('Whether status messages are sent'),
        kind: z.string().min(1).default('status').describe('Kind of a status message'),
        stateField: z.string().min(1).default('status').describe('Field that holds the state'),
        states: z
          .strictObject({
            listening: z.string().default('listening').describe('The AI listens'),
            speaking: z.string().default('speaking').describe('The AI speaks'),
          })
          .prefault({}),
        fields: jsonFields.default({}).describe('Further fields of the message'),
      })
      .prefault({})
      .describe('Status messages'),
    error: z
      .strictObject({
        kind: z.string().min(1).default('error').describe('Kind of an error message'),
        shape: z
          .enum(['nested', 'flat'])
          .default('nested')
          .describe('`nested`: {error: {code, message}}; `flat`: {code, message}'),
        fields: jsonFields.default({}).describe('Further fields of the message'),
      })
      .prefault({})
      .describe('Error messages'),
    replyFailed: z
      .strictObject({
        code: z.string().min(1).default('REPLY_FAILED').describe('Code of the error message'),
        message: z
          .string()
          .default('The reply has failed')
          .describe('Text of the error message, before the reason'),
      })
      .prefault({})
      .describe('The error message for a reply that cannot go on'),
    errorBeforeClose: z.boolean().default(true).describe('Whether an error message goes before a close'),
    tokenDeadlineMs: z
      .int()
      .min(1)
      .max(600_000)
      .default(5_000)
      .describe('How long a new connection may take to present its token'),
    earlyAudioBytes: z
      .int()
      .min(0)
      .max(16 * 1024 * 1024)
      .default(256 * 1024)
      .describe('Audio that is held while the token is awaited and verified'),
    maxMessageBytes: z
      .int()
      .min(1)
      .max(64 * 1024 * 1024)
      .default(1024 * 1024)
      .describe('Largest message; a longer one closes with 1009'),
    replyFrameMs: z
      .int()
      .min(5)
      .max(1_000)
      .default(defaultFrameMs)
      .describe('Audio in one message of the service, in milliseconds'),
    oddBytes: z
      .enum(['carry', 'drop', 'close'])
      .default('carry')
      .describe('Half a sample at the end of a message: carried to the next, dropped, or a reason to close'),
    textAfterToken: z
      .enum(['error', 'ignore', 'close'])
      .default('error')
      .describe('Text after the token: an error message, ignored, or a reason to close'),
    expiryDuringStream: z
      .enum(['continue', 'close'])
      .default('continue')
      .describe('What happens to a stream when the token that opened it expires'),
    closes: z
      .strictObject(closeSchemas)
      .prefault({})
      .describe('Close code, reason and error message, by cause'),
  })
  .prefault({});

/** The schema of a dialect file. Every field has a default: an empty object is a whole dialect. */
export const dialectSchema = z.strictObject({
  token: tokenSchema,
  refusals: z
    .strictObject({ invalidRequest: invalidRequestSchema, ...refusalSchemas })
    .prefault({})
    .describe('HTTP errors, by cause'),
  rateLimit: rateLimitSchema,
  stream: streamSchema,
});

export type Dialect = z.output<typeof dialectSchema>;
/** A dialect as it is written: whatever is left out has its default. */
export type DialectInput = z.input<typeof dialectSchema>;

/** One thing that is wrong with a dialect. */
export type DialectProblem = SchemaProblem;

export type ParsedDialect = { ok: true; dialect: Dialect } | { ok: false; problems: DialectProblem[] };

/** Validates a dialect as read from a file or given to the library. */
export function parseDialect(input: unknown): ParsedDialect {
  const result = dialectSchema.safeParse(input, { reportInput: true });
  if (result.success) return { ok: true, dialect: result.data };
  return { ok: false, problems: result.error.issues.map((issue) => describeIssue(issue, dialectSecrets)) };
}

/** The dialect in which every open choice has its default. */
export function defaultDialect(): Dialect {
  return dialectSchema.parse({});
}

/** Settings whose values are never shown. */
export const dialectSecrets: SecretNames = new Set(['secret', 'privateKey']);
