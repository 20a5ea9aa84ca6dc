import * as z from 'zod';
import { defaultFrameMs } from '../audio-format.ts';
import { errorShapes } from '../error-body.ts';
import { closesSchema } from './causes.ts';
import { messageFields, messageList } from './templates.ts';

/** How much audio one message of the service may hold, in milliseconds. */
export const replyFrameMsBounds = { min: 5, max: 1_000 } as const;

const furtherFields = messageFields
  .default({})
  .describe(
    'Further fields of the message; a value such as `{"$uuid": true}` is a template (`$uuid`, `$session`, `$now`, `$device`, `$stream`, `$sequence`)',
  );
const stateKind = z.string().min(1).optional();

/** How the text messages of the service look. */
const messageSettings = {
  greeting: messageList.describe('Messages that are sent as soon as the WebSocket is open, with templates'),
  connected: z
    .strictObject({
      fields: furtherFields,
      before: messageList.describe(
        'Messages after the token is accepted and before this one, with templates',
      ),
      after: messageList.describe('Messages right after this one, with templates'),
    })
    .prefault({})
    .describe('The service_voice_connected message'),
  status: z
    .strictObject({
      send: z.boolean().default(true).describe('Whether status messages are sent'),
      kind: z.string().min(1).default('status').describe('Kind of a status message'),
      kinds: z
        .strictObject({
          listening: stateKind.describe(
            'Kind of the message that says the AI is listening; default: `status.kind`',
          ),
          speaking: stateKind.describe(
            'Kind of the message that says the AI is speaking; default: `status.kind`',
          ),
        })
        .prefault({}),
      stateField: z
        .string()
        .default('status')
        .describe('Field that holds the state; empty: no field holds it'),
      states: z
        .strictObject({
          listening: z.string().default('listening').describe('The AI is listening'),
          speaking: z.string().default('speaking').describe('The AI is speaking'),
        })
        .prefault({}),
      fields: furtherFields,
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
      fields: furtherFields,
    })
    .prefault({})
    .describe('Error messages'),
  replyFailed: z
    .strictObject({
      code: z.string().min(1).default('REPLY_FAILED').describe('Code of the error message'),
      message: z
        .string()
        .default('The reply failed')
        .describe('Text of the error message, before the reason'),
    })
    .prefault({})
    .describe('The error message for a reply that cannot continue'),
};

const duration = z
  .int()
  .min(1)
  .max(24 * 3_600_000);

export const streamSchema = z
  .strictObject({
    kindField: z.string().min(1).default('type').describe('Field that names the kind of a service message'),
    ...messageSettings,
    errorBeforeClose: z.boolean().default(true).describe('Whether an error message is sent before a close'),
    binaryToken: z
      .enum(['audio', 'accept', 'refuse'])
      .default('audio')
      .describe(
        'A first message that is binary: treated as audio before the token, as the token, or as an invalid token',
      ),
    connectionLimit: z
      .enum(['refuse', 'refuse-upgrade', 'evict-oldest'])
      .default('refuse')
      .describe(
        'What happens to a connection over the limit of its device: its token is refused; its upgrade is refused with `refusals.tooManyConnections` (counted by address, since no device is known yet); or the oldest connection of the device is closed',
      ),
    capacity: z
      .strictObject({
        connections: z
          .int()
          .min(0)
          .optional()
          .describe('Maximum number of connections of all devices together; default: no limit'),
        refuseAt: z
          .enum(['upgrade', 'token'])
          .default('upgrade')
          .describe(
            'Where a connection beyond the capacity is refused: with `refusals.unavailable`, or with `stream.closes.unavailable`',
          ),
      })
      .prefault({}),
    idleTimeoutMs: duration
      .optional()
      .describe('Longest time without a message from the device; default: no limit'),
    longestSessionMs: duration
      .optional()
      .describe('Longest duration of a stream after its token is accepted; default: no limit'),
    explainRefusals: z
      .boolean()
      .default(false)
      .describe(
        'Whether the error message of a refused token says what is wrong with it and what to send instead',
      ),
    tokenDeadlineMs: z
      .int()
      .min(1)
      .max(600_000)
      .default(5_000)
      .describe('Time within which a new connection must present its token'),
    earlyAudioBytes: z
      .int()
      .min(0)
      .max(16 * 1024 * 1024)
      .default(256 * 1024)
      .describe('Maximum audio, in bytes, that is kept before the token is accepted'),
    maxMessageBytes: z
      .int()
      .min(1)
      .max(64 * 1024 * 1024)
      .default(1024 * 1024)
      .describe('Largest message, in bytes; a longer one closes the stream with 1009'),
    replyFrameMs: z
      .int()
      .min(replyFrameMsBounds.min)
      .max(replyFrameMsBounds.max)
      .default(defaultFrameMs)
      .describe('Audio in one message of the service, in milliseconds'),
    shortestTurnMs: z
      .int()
      .min(0)
      .max(10_000)
      .default(0)
      .describe(
        'A sound of the user that is shorter than this, in milliseconds, is not a turn: it neither interrupts a reply nor gets one',
      ),
    oddBytes: z
      .enum(['carry', 'drop', 'close'])
      .default('carry')
      .describe(
        'Half a sample at the end of a message: carry it to the next message, drop it, or close the stream',
      ),
    textAfterToken: z
      .enum(['error', 'ignore', 'close'])
      .default('error')
      .describe('Text after the token: answer with an error message, ignore it, or close the stream'),
    expiryDuringStream: z
      .enum(['continue', 'close'])
      .default('continue')
      .describe('What happens to an open stream when its token expires'),
    closes: closesSchema,
  })
  .superRefine(({ kindField, status, error }, { addIssue }) => {
    const refuse = (path: string[], input: string, expected: string) =>
      addIssue({ code: 'custom', path, input, message: `expected ${expected}: it holds the kind` });
    if (status.stateField === kindField)
      refuse(['status', 'stateField'], kindField, 'a field other than kindField');
    if (Object.keys(errorShapes[error.shape]('', '')).includes(kindField))
      refuse(['kindField'], kindField, `a field that a ${error.shape} error does not have`);
  })
  .prefault({});
