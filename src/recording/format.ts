import * as z from 'zod';
import type { SessionEvent } from '../session/events.ts';
import type { SessionSummary } from '../session/summary.ts';

/** Increases when an older reader would misunderstand the format. */
export const schemaVersion = 2;
/** Versions that can be read. In version 1 every text message is from the service. */
const readVersions = [1, schemaVersion] as const;

/** Longer than any session: 31 days. */
const longestMs = 31 * 24 * 3_600_000;
const ms = z.number();
/** On the time axis of a session. */
const sessionMs = ms.max(longestMs);
const count = z.int().nonnegative();
const t = sessionMs.nonnegative().describe('Milliseconds since the session began, on a monotonic clock.');
const injected = z
  .literal(true)
  .optional()
  .describe('Sent by the recording proxy, not by the side in `direction`.');
const direction = z
  .enum(['out', 'in'])
  .describe('`out`: from the device to the service; `in`: from the service to the device.');

/** recording.json: what was recorded. Written first. */
export const manifestSchema = z
  .object({
    schema: z.literal(readVersions).describe('Version of the format.'),
    version: z.string().describe('Version of voicectl.'),
    startedAt: z.iso.datetime().describe('Wall-clock time of the start of the recording.'),
    device: z.string(),
    baseUrl: z.string(),
    wsUrl: z.string(),
    source: z.string().describe('Name of the source, for display.'),
    settleMs: ms.nonnegative().describe('A pause this long ends a reply.'),
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
        status: count.optional().describe('Missing if there was no answer.'),
        headers: z
          .record(z.string(), z.string())
          .optional()
          .describe('Headers of the answer, by name in lower case.'),
        attempts: count.optional(),
        firstByteMs: ms.optional(),
        totalMs: ms,
        error: z.string().optional(),
      })
      .describe('The token request, written when it has ended; `t` is its start.'),
    z
      .object({
        t,
        type: z.literal('upgrade'),
        url: z.string(),
        status: count.optional().describe('Missing if there was no answer.'),
        totalMs: ms,
        error: z.string().optional(),
      })
      .describe('The WebSocket handshake, written when it has ended; `t` is its start.'),
    z
      .object({ t, type: z.literal('token'), bytes: count })
      .describe('The device presented its token; only the length is recorded.'),
    z
      .object({
        t,
        type: z.literal('text'),
        text: z.string(),
        direction: direction.optional().describe('Default: `in`.'),
        injected,
      })
      .describe('A text message after the token. Bytes that are not UTF-8 are replaced by U+FFFD.'),
    z
      .object({
        t,
        type: z.literal('audio'),
        direction,
        bytes: count,
        at: count.describe('Offset of this message in the audio data of the WAV.'),
        injected,
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

/** Whether a line is a text message from the service. */
export function isServiceText(line: WireLine): line is Extract<WireLine, { type: 'text' }> {
  return line.type === 'text' && line.direction !== 'out';
}

const rateLimit = z.object({
  limit: count.optional(),
  remaining: count.optional(),
  resetAtMs: ms.optional(),
});
const totals = z.object({ frames: count, bytes: count, audioMs: ms });
const spread = z.object({ p50: ms, p95: ms, max: ms }).nullable();
const close = z.object({ code: count, reason: z.string(), name: z.string() });

/** Recordings of earlier versions have fewer fields. */
const voice = z
  .looseObject({
    findings: z.array(z.string()).describe('Kinds of the findings in the AI’s audio'),
    remarks: z.array(z.string()).describe('The same as text'),
    judgements: z
      .array(
        z.looseObject({
          kind: z.string(),
          side: z.enum(['device', 'service']),
          is: z.enum(['finding', 'remark']).describe('A finding is certain; a remark is worth a look'),
          text: z.string(),
          atMs: sessionMs
            .nullable()
            .describe('First place in the audio of this side; null if it is about all of it'),
          lengthMs: ms.nullable(),
          figure: z.object({ value: z.number(), unit: z.string() }).nullable(),
          advice: z.string().nullable(),
          times: count,
        }),
      )
      .default([]),
    activeDbov: z.number().nullable().default(null).describe('Level of speech (ITU-T P.56)'),
    floorDbov: z
      .number()
      .nullable()
      .default(null)
      .describe('Level of pauses; null if they are digital silence, or if there are none'),
    bandwidthHz: z.number().nullable().default(null).describe('Highest frequency with sound'),
    unjudged: z.string().nullable().describe('Why the voice was not judged'),
  })
  .describe('What was found in the AI’s audio');

const dialogueSpread = z.looseObject({ count, p50: ms, p95: ms, max: ms }).nullable();

/** Only what is read of it: `inspect` judges the audio again. */
const dialogue = z
  .looseObject({
    unjudged: z.string().nullable().describe('Why it was not judged'),
    turns: z.array(z.unknown()).describe('The turns of the user'),
    ai: z.array(z.unknown()).describe('Where the AI spoke'),
    figures: z.looseObject({
      responseMs: dialogueSpread.describe('From the end of a turn to the first audio of the reply'),
      yieldMs: dialogueSpread.describe('From the start of an interruption until the AI is silent'),
      overlapMs: ms.describe('The time in which both speak'),
      talkOverMs: ms.describe('The part of it in which the AI should have been silent'),
      silenceMs: ms.describe('The time in which nobody speaks'),
      talkShare: z.looseObject({ user: z.number(), ai: z.number() }).nullable(),
    }),
    rules: z.looseObject({ waitMs: ms.describe('A reply that begins later is missing') }),
  })
  .describe('Who spoke when; missing in recordings that a proxy or page made');

const transcript = z
  .array(z.looseObject({ t: ms, who: z.enum(['you', 'AI']).nullable(), text: z.string() }))
  .describe('What the service wrote of what was spoken, if it did');

/** summary.json; unknown fields of later versions are kept. */
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
    voice: voice.optional(),
    dialogue: dialogue.optional(),
    transcript: transcript.optional(),
    failure: z
      .object({ kind: z.string(), code: z.string(), exitCode: count, message: z.string() })
      .nullable(),
    verdicts: z.array(
      z.looseObject({
        name: z.string(),
        ok: z.boolean(),
        skipped: z.literal(true).optional(),
        expected: z.string(),
        measured: z.string(),
      }),
    ),
  })
  .describe('summary.json: missing if the recording is incomplete');

type RecordedType = Exclude<SessionEvent['type'], 'audio' | 'figures' | 'summary'>;

/** A schema for each event that is recorded; the compiler requires one for a new event. */
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
    pace: z.union([z.number(), z.literal('max')]).optional(),
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
    claims: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Claims of the token, which itself is not recorded.'),
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
  turn: z
    .object({
      t,
      type: z.literal('turn'),
      turn: count,
      state: z.enum(['start', 'end']),
      atMs: sessionMs.describe('Its place in the sent audio.'),
      holdMs: ms
        .optional()
        .describe('Set if it is not a turn but a cough: nothing may change for this long.'),
    })
    .describe('A clip of a conversation file begins or ends.'),
  gap: z
    .object({
      t,
      type: z.literal('gap'),
      ms,
      atMs: sessionMs.optional().describe('When the pause ended; default: `t`.'),
    })
    .describe('A pause in AI audio, of length `ms`.'),
  warning: z.object({
    t,
    type: z.literal('warning'),
    code: z.string(),
    message: z.string(),
    hint: z.string().optional().describe('What to do about it.'),
    side: z
      .enum(['device', 'service'])
      .optional()
      .describe('Set by a proxy: this side broke the rule in `code`.'),
    agoMs: z
      .number()
      .optional()
      .describe('How long ago it was heard in the AI’s audio; negative if it is still to be played.'),
  }),
  close: close.extend({
    t,
    type: z.literal('close'),
    from: z.enum(['device', 'service']).optional().describe('The side that closed first, or vanished.'),
  }),
};

/** One line of events.jsonl. */
export const recordedEventSchema = z
  .discriminatedUnion('type', Object.values(eventSchemas) as unknown as [z.ZodObject])
  .describe('A line of events.jsonl; readers skip events of other types');

/** A recorded event. Audio is in the WAVs and in wire.jsonl; the summary is a file of its own and includes the figures. */
export type RecordedEvent = Extract<SessionEvent, { type: RecordedType }>;
export type RecordedSummary = SessionSummary;
