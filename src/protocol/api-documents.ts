import * as z from 'zod';
import { tokenLifetimeSeconds } from './claims.ts';
import { type ControlOperation, controlOperation, controlOperations, controlPrefix } from './control.ts';
import { connectedKind } from './messages.ts';
import { streamPath, tokenPaths } from './paths.ts';
import { rateLimitHeaderNames, retryAfterHeaderName } from './rate-limit.ts';
import { jsonMediaType, maxFieldLength } from './token-request.ts';

/** The error body of every refusal. Specification: "Error body". */
const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        details: {
          type: 'object',
          required: ['field', 'expected'],
          properties: { field: { type: 'string' }, expected: { type: 'string' } },
        },
      },
    },
  },
};

const refusal = {
  description: 'Refused. The dialect defines the status and code.',
  content: { [jsonMediaType]: { schema: errorSchema } },
};

/** The HTTP side of the emulator as OpenAPI 3.1: the token endpoint and the control API. */
export function openApiDocument(version: string) {
  const names = Object.keys(controlOperations) as ControlOperation[];
  const paths: Record<string, Record<string, unknown>> = {};
  tokenPaths.forEach((path, index) => {
    paths[path] = {
      post: { operationId: index === 0 ? 'issueToken' : `issueTokenVersion${index}`, ...tokenOperation() },
    };
  });
  for (const name of names) {
    const { method, path } = controlOperation(name);
    const full = controlPrefix + path;
    paths[full] = { ...paths[full], [method.toLowerCase()]: describeOperation(name) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'voicectl emulator', version },
    paths,
    components: { securitySchemes: { controlSecret: { type: 'http', scheme: 'bearer' } } },
  };
}

function tokenOperation() {
  const field = { type: 'string', minLength: 1, maxLength: maxFieldLength };
  const header = { schema: { type: 'string' } };
  return {
    summary: `Issues a JWT for one connection, valid for ${tokenLifetimeSeconds} seconds`,
    requestBody: {
      required: true,
      content: {
        [jsonMediaType]: {
          schema: {
            type: 'object',
            required: ['apiKey', 'deviceId'],
            properties: { apiKey: field, deviceId: field },
          },
        },
      },
    },
    responses: {
      200: {
        description: 'The token',
        headers: Object.fromEntries(Object.values(rateLimitHeaderNames).map((name) => [name, header])),
        content: {
          [jsonMediaType]: {
            schema: { type: 'object', required: ['token'], properties: { token: { type: 'string' } } },
          },
        },
      },
      429: { ...refusal, headers: { [retryAfterHeaderName]: header } },
      default: refusal,
    },
  };
}

function describeOperation(name: ControlOperation) {
  const { summary, body, query, binary, response } = controlOperation(name);
  const binaryContent = (binary ?? []).map((type) => [type, { schema: {} }]);
  const content =
    body === undefined
      ? Object.fromEntries(binaryContent)
      : { [jsonMediaType]: { schema: inputSchema(body) } };
  const answer =
    response === undefined ? {} : { content: { [jsonMediaType]: { schema: outputSchema(response) } } };
  return {
    operationId: name,
    summary,
    security: [{}, { controlSecret: [] }],
    ...(query === undefined ? {} : { parameters: describeQuery(query) }),
    ...(Object.keys(content).length === 0 ? {} : { requestBody: { required: true, content } }),
    responses: { 200: { description: 'Done', ...answer }, default: { ...refusal, description: 'Refused' } },
  };
}

function describeQuery(query: z.ZodObject) {
  const { properties = {} } = inputSchema(query) as { properties?: Record<string, { description?: string }> };
  return Object.entries(properties).map(([name, { description = '', ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
  }));
}

function inputSchema(schema: z.ZodType) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

function outputSchema(schema: z.ZodType) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  return rest;
}

/** The voice stream as AsyncAPI 3.0, from the side of the service. Specification: "WSS /voice-stream". */
export function asyncApiDocument(version: string) {
  const audio = {
    contentType: 'audio/l16; rate=16000; channels=1',
    summary: 'Raw PCM: signed 16-bit little-endian, 16,000 Hz, mono',
    payload: { type: 'string', format: 'binary' },
  };
  const messages = {
    token: { summary: 'The JWT, as text: the first message of a device', payload: { type: 'string' } },
    userAudio: audio,
    connected: {
      contentType: jsonMediaType,
      summary: `The first message of the service; its kind is ${connectedKind}`,
      payload: { type: 'object' },
    },
    status: {
      contentType: jsonMediaType,
      summary: 'A status message; the dialect names its fields',
      payload: { type: 'object' },
    },
    error: {
      contentType: jsonMediaType,
      summary: 'An error message; the dialect names its fields',
      payload: { type: 'object' },
    },
    aiAudio: audio,
  };
  const ref = (name: string) => ({ $ref: `#/channels/voiceStream/messages/${name}` });
  const channel = { $ref: '#/channels/voiceStream' };
  return {
    asyncapi: '3.0.0',
    info: { title: 'voice stream', version },
    defaultContentType: jsonMediaType,
    channels: { voiceStream: { address: streamPath, messages } },
    operations: {
      hear: { action: 'receive', channel, messages: ['token', 'userAudio'].map(ref) },
      say: { action: 'send', channel, messages: ['connected', 'status', 'error', 'aiAudio'].map(ref) },
    },
  };
}
