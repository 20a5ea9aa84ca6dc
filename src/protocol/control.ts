import * as z from 'zod';
import { closeCodeSchema, closeReasonSchema } from './close-code-schema.ts';
import { metricsOperation } from './control-paths.ts';
import { faultSchema } from './fault-schema.ts';

export { controlPrefix, pageAssets, pageData, pagePath, pageTokenHeader } from './control-paths.ts';

/** Selects streams: one by its number, or all of a device. With both, streams that match both; with neither, all. */
const streams = {
  stream: z.int().positive().optional().describe('Number of one stream'),
  device: z.string().optional().describe('All streams of this device'),
};

export const streamsSchema = z.strictObject(streams);
export type StreamSelector = z.output<typeof streamsSchema>;

/** `POST /clock`: moves the emulator's clock forward. Tokens expire and windows reset at once. */
export const advanceSchema = z.strictObject({
  advanceMs: z
    .number()
    .min(0)
    .max(366 * 24 * 3_600_000)
    .describe('Milliseconds to move forward'),
});

const message = {
  status: z
    .enum(['listening', 'speaking'])
    .optional()
    .describe('A status message, in the wording of the dialect'),
  error: z
    .strictObject({ code: z.string().min(1), message: z.string() })
    .optional()
    .describe('An error message, in the wording of the dialect'),
  json: z
    .unknown()
    .refine(isJson, 'expected a value that JSON can hold')
    .optional()
    .describe('Any JSON, unchanged'),
};

const oneOfThem = [
  (given: { status?: unknown; error?: unknown; json?: unknown }) =>
    [given.status, given.error, given.json].filter((one) => one !== undefined).length === 1,
  'expected exactly one of status, error and json',
] as const;

/** What a text message says. */
export const messageContentSchema = z.strictObject(message).refine(...oneOfThem);
/** `POST /messages`: sends one text message. */
export const messageSchema = z.strictObject({ ...streams, ...message }).refine(...oneOfThem);

function isJson(value: unknown): boolean {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/** `POST /close`: closes streams. */
export const closeSchema = z.strictObject({
  ...streams,
  code: closeCodeSchema.default(1000),
  reason: closeReasonSchema.default(''),
});

/** `POST /events`: sends an event that a scenario waits for. */
export const eventSchema = z.strictObject({
  ...streams,
  event: z.string().min(1).max(256).describe('The name of the event in the scenario'),
});

/** Query of `GET /journal` and `GET /journal/live`. */
export const journalQuerySchema = z.strictObject({
  type: z.string().optional().describe('Events of this type only'),
  device: z.string().optional().describe('Events of this device only'),
  stream: z.coerce.number().int().positive().optional().describe('Events of this stream only'),
  since: z.coerce.number().min(0).optional().describe('Events with a sequence number above this'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(1_000)
    .describe('At most this many of the newest events'),
});
export type JournalQuery = z.output<typeof journalQuerySchema>;

/** The answer of every operation on streams. */
const reachedSchema = z.object({
  streams: z.array(z.int()).describe('Numbers of the streams that were reached'),
});

const clockSchema = z.object({
  now: z.iso.datetime().describe('Time of the emulator'),
  aheadMs: z.number().describe('How far it is ahead of the clock of the machine'),
  proxy: z
    .literal(true)
    .optional()
    .describe('Set by a proxy: the clock of the service behind it does not move'),
});

/** The fields of every event in the journal. */
export const journalEntrySchema = z.looseObject({ seq: z.int(), t: z.number(), type: z.string() });

const activeFaultSchema = z
  .looseObject({
    id: z.int(),
    name: z.string(),
    struck: z.int().describe('How often it has struck'),
  })
  .describe('A fault with all its parameters; durations are in milliseconds');

/** `POST /faults/clear`. */
export const clearFaultsSchema = z.strictObject({
  id: z.int().positive().optional().describe('Number of the fault; default: all'),
});

export const stateSchema = z.object({
  version: z.string(),
  clock: clockSchema,
  devices: z.array(
    z.object({
      device: z.string(),
      connections: z.int(),
      maxConnections: z.int(),
      requests: z.int().describe('Token requests counted in the window'),
      limit: z.int(),
      resetAt: z.iso.datetime().nullable().describe('When the window resets; null without an open window'),
    }),
  ),
  streams: z.array(
    z.object({
      stream: z.int(),
      device: z.string().nullable().describe('Null until its token is accepted'),
      jti: z.string().nullable(),
      remote: z.string().describe('Address of the device'),
      claims: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('Claims of its token; null until it is accepted'),
      durationMs: z.number(),
      framesIn: z.int(),
      bytesIn: z.int(),
      framesOut: z.int(),
      bytesOut: z.int(),
      levels: z
        .object({ inDbfs: z.number(), outDbfs: z.number() })
        .describe('Level of the most recent audio, in dBFS; -100 without recent audio'),
      pace: z.object({
        timesRealTime: z
          .number()
          .nullable()
          .describe('Duration of the audio divided by elapsed time; null until it can be measured'),
        meanJitterMs: z.number(),
        longestGapMs: z.number(),
        burstMessages: z.int(),
      }),
      findings: z.array(z.string()).describe('Problems with what the device sends'),
      remarks: z.array(z.string()).describe('The findings in words'),
      advice: z.string().optional().describe('What to do about the first remark'),
    }),
  ),
  tokens: z
    .array(
      z.object({
        jti: z.string(),
        device: z.string(),
        expiresAt: z.iso.datetime(),
        used: z.boolean(),
      }),
    )
    .describe('Tokens that have not expired'),
  faults: z.array(activeFaultSchema).describe('Active faults'),
});
export type EmulatorState = z.output<typeof stateSchema>;

interface Operation {
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  body?: z.ZodType;
  query?: z.ZodObject;
  /** Media types of a body that is not JSON. */
  binary?: readonly string[];
  response?: z.ZodType;
}

/** What an operation takes and answers, beside its method, path and summary. */
type Shapes = Omit<Operation, 'method' | 'path' | 'summary'>;

function get<More extends Shapes = Record<never, never>>(path: string, summary: string, more = {} as More) {
  return { method: 'GET' as const, path, summary, ...more };
}

function post<More extends Shapes>(path: string, summary: string, more: More) {
  return { method: 'POST' as const, path, summary, ...more };
}

/** Every operation: the emulator routes by it, the client calls by it, and the OpenAPI document shows it. */
export const controlOperations = {
  health: get('/health', 'Whether the emulator is running', {
    response: z.object({ status: z.literal('ok'), version: z.string() }),
  }),
  state: get('/state', 'Devices, windows, streams and tokens', { response: stateSchema }),
  journal: get('/journal', 'Events so far, oldest first', {
    query: journalQuerySchema,
    response: z.array(journalEntrySchema),
  }),
  live: get('/journal/live', 'Events as they happen, as server-sent events', { query: journalQuerySchema }),
  reset: post(
    '/reset',
    'Close all streams, clear windows and the journal, and restore the initial faults; the clock stays as it is',
    { response: reachedSchema },
  ),
  clock: get('/clock', 'The time of the emulator', { response: clockSchema }),
  advance: post('/clock', 'Move the clock forward', { body: advanceSchema, response: clockSchema }),
  send: post('/messages', 'Send a status message, an error message or any JSON', {
    body: messageSchema,
    response: reachedSchema,
  }),
  speak: post('/speech', 'Play a WAV or raw PCM', {
    query: streamsSchema,
    binary: ['audio/wav', 'application/octet-stream'],
    response: reachedSchema,
  }),
  faults: get('/faults', 'The active faults', { response: z.array(activeFaultSchema) }),
  addFault: post('/faults', 'Add a fault from the catalogue', {
    body: faultSchema,
    response: activeFaultSchema,
  }),
  clearFaults: post('/faults/clear', 'Clear one fault, or all', {
    body: clearFaultsSchema,
    response: z.object({ cleared: z.int() }),
  }),
  event: post('/events', 'Send an event to the scenario', { body: eventSchema, response: reachedSchema }),
  metrics: get(
    metricsOperation,
    'Metrics for Prometheus: text format 0.0.4, or OpenMetrics if Accept requests it',
  ),
  openapi: get('/openapi.json', 'The HTTP side of the emulator, as OpenAPI'),
  asyncapi: get('/asyncapi.json', 'The voice stream, as AsyncAPI'),
  close: post('/close', 'Close streams with a code', { body: closeSchema, response: reachedSchema }),
} as const satisfies Record<string, Operation>;

type Operations = typeof controlOperations;
export type ControlOperation = keyof Operations;

/** The answer of each operation that returns one JSON value of a known shape. */
export type ControlAnswers = {
  [Name in ControlOperation as Operations[Name] extends { response: z.ZodType }
    ? Name
    : never]: Operations[Name] extends {
    response: z.ZodType<infer Answer>;
  }
    ? Answer
    : never;
};

const answering: { [Name in keyof ControlAnswers]: { response: z.ZodType<ControlAnswers[Name]> } } =
  controlOperations;

/** Parses an answer by the schema of its operation; unknown fields are dropped. Throws if the shape differs. */
export function parseControlAnswer<Name extends keyof ControlAnswers>(
  name: Name,
  answer: unknown,
): ControlAnswers[Name] {
  return answering[name].response.parse(answer);
}

/** An operation in its general form. */
export function controlOperation(name: ControlOperation): Operation {
  return controlOperations[name];
}
