import * as z from 'zod';
import { type Defaults, mapValues } from './cause.ts';

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

export const refusalsSchema = z
  .strictObject({ invalidRequest: invalidRequestSchema, ...refusalSchemas })
  .prefault({})
  .describe('HTTP errors, by cause');
