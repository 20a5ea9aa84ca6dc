import * as z from 'zod';
import type { SessionEvent } from '../session/events.ts';
import type { SessionSummary } from '../session/summary.ts';

/** Raised when a reader of the one before would misread the next. */
export const schemaVersion = 1;

/** The files of a recording, in its folder. */
export const recordingFiles = {
  manifest: 'recording.json',
  /** What happened, as events of the session; audio apart. */
  events: 'events.jsonl',
  /** What went over the wire, message by message, without key and token. */
  wire: 'wire.jsonl',
  out: 'you.wav',
  in: 'ai.wav',
  summary: 'summary.json',
} as const;

const ms = z.number();
const count = z.int().nonnegative();
const t = ms.nonnegative().describe('Milliseconds since the session began, on a monotonic clock.');
const direction = z.enum(['out', 'in']).describe('`out`: from the client to the service.');

/** recording.json: what was recorded, written before anything else. */
export const manifestSchema = z
  .object({
    schema: z.literal(schemaVersion).describe('Version of this format.'),
    version: z.string().describe('Version of voicectl.'),
    startedAt: z.iso.datetime().describe('Wall-clock time at which the recording was begun.'),
    device: z.string(),
    baseUrl: z.string(),
    wsUrl: z.string(),
    source: z.string().describe('What was streamed, for people.'),
    settleMs: ms.nonnegative().describe('A reply that has paused this long has ended.'),
  })
  .describe('recording.json');

export type Manifest = z.infer<typeof manifestSchema>;

/** One line of wire.jsonl. */
export const wireSchema = z
  .discriminatedUnion('type', [
    z
      .object({
        t,
        type: z.literal('token-request'),
        url: z.string(),
        device: z.string(),
        status: count.optional().describe('Absent where no answer came.'),
        headers: z.record(z.string(), z.string()).optional().describe('Of the answer, by lower-case name.'),
        attempts: count.optional(),
        firstByteMs: ms.optional(),
        totalMs: ms,
        error: z.string().optional(),
      })
      .describe('The token request, told when it is over; `t` is its begin.'),
    z
      .object({
        t,
        type: z.literal('upgrade'),
        url: z.string(),
        status: count.optional().describe('Absent where no answer came.'),
        totalMs: ms,
        error: z.string().optional(),
      })
      .describe('The WebSocket handshake, told when it is over; `t` is its begin.'),
    z
      .object({ t, type: z.literal('token'), bytes: count })
      .describe('The token was presented; of it only the length is kept.'),
    z.object({ t, type: z.literal('text'), text: z.string() }).describe('A text message of the service.'),
    z
      .object({
        t,
        type: z.literal('audio'),
        direction,
        bytes: count,
        at: count.describe('Where in the data of the WAV the bytes of this message begin.'),
      })
      .describe('A binary message.'),
    z
      .object({
        t,
        type: z.literal('close'),
        by: z.enum(['client', 'service']),
        code: count,
        reason: z.string(),
      })
      .describe('The stream has closed.'),
  ])
  .describe('A line of wire.jsonl');

export type WireLine = z.infer<typeof wireSchema>;
export type WireAudio = Extract<WireLine, { type: 'audio' }>;
export type Direction = WireAudio['direction'];

const rateLimit = z.object({
  limit: count.optional(),
  remaining: count.optional(),
  resetAtMs: ms.optional(),
});
const totals = z.object({ frames: count, bytes: count, audioMs: ms });
const spread = z.object({ p50: ms, p95: ms, max: ms }).nullable();
const close = z.object({ code: count, reason: z.string(), name: z.string() });

/** summary.json; other fields of later versions are kept. */
export const summarySchema = z
  .looseObject({
    device: z.string(),
    ok: z.boolean(),
    elapsedMs: ms,
    tokenMs: ms.nullable(),
    connectMs: ms.nullable(),
    authoriseMs: ms.nullable(),
    out: totals,
    in: totals,
    audibleMs: ms,
    firstAudioMs: ms.nullable(),
    jitterMs: spread,
    longestGapMs: ms.nullable(),
    sendLatenessMs: spread,
    underruns: count.nullable(),
    events: z.record(z.string(), count),
    rateLimit: rateLimit.nullable(),
    close: close.nullable(),
    failure: z
      .object({ kind: z.string(), code: z.string(), exitCode: count, message: z.string() })
      .nullable(),
    verdicts: z.array(
      z.looseObject({ name: z.string(), ok: z.boolean(), expected: z.string(), measured: z.string() }),
    ),
  })
  .describe('summary.json: absent where the recording was cut');

type RecordedType = Exclude<SessionEvent['type'], 'audio' | 'figures' | 'summary'>;

/** A schema for each event that is recorded; the compiler asks for that of a new one. */
const eventSchemas: { [Type in RecordedType]: z.ZodObject<{ type: z.ZodLiteral<Type>; t: typeof t }> } = {
  session: z.object({
    t,
    type: z.literal('session'),
    version: z.string(),
    device: z.string(),
    baseUrl: z.string(),
    wsUrl: z.string(),
    source: z.string(),
    format: z.string(),
    durationMs: ms.optional(),
  }),
  state: z.object({
    t,
    type: z.literal('state'),
    state: z.enum(['token', 'connecting', 'authorising', 'live', 'draining', 'closed']),
  }),
  retry: z.object({
    t,
    type: z.literal('retry'),
    attempt: count,
    delayMs: ms,
    code: z.string(),
    message: z.string(),
  }),
  token: z.object({
    t,
    type: z.literal('token'),
    claims: z.record(z.string(), z.unknown()).optional().describe('Of the token, which itself is not kept.'),
    rateLimit: rateLimit.optional(),
    status: count.optional(),
    ms: ms.optional(),
    attempts: count.optional(),
  }),
  message: z.object({
    t,
    type: z.literal('message'),
    category: z.string(),
    kind: z.string().optional(),
    body: z.unknown(),
  }),
  speech: z.object({
    t,
    type: z.literal('speech'),
    state: z.enum(['start', 'end']),
    audioMs: ms,
    bargeIn: z.literal(true).optional(),
  }),
  gap: z.object({ t, type: z.literal('gap'), ms }).describe('The reply paused for so long.'),
  warning: z.object({
    t,
    type: z.literal('warning'),
    code: z.string(),
    message: z.string(),
    hint: z.string().optional().describe('What to do about it.'),
  }),
  close: close.extend({ t, type: z.literal('close') }),
};

/** One line of events.jsonl. */
export const eventSchema = z
  .discriminatedUnion('type', Object.values(eventSchemas) as unknown as [z.ZodObject])
  .describe('A line of events.jsonl; an event of a type that is not listed is passed over');

/** An event as it is recorded: audio is in the WAVs and in wire.jsonl, the summary in its own file, and the figures on the way are in it. */
export type RecordedEvent = Extract<SessionEvent, { type: RecordedType }>;
export type RecordedSummary = SessionSummary;
