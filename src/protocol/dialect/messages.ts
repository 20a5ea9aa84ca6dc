import * as z from 'zod';
import { messageFields, messageList } from './fields.ts';

const furtherFields = messageFields
  .default({})
  .describe(
    'Further fields of the message; a value such as `{"$uuid": true}` is a template (`$uuid`, `$session`, `$now`, `$device`, `$stream`, `$sequence`)',
  );
const stateKind = z.string().min(1).optional();

/** How the text messages of the service look. */
export const messageSettings = {
  greeting: messageList.describe('Messages that are sent as soon as the WebSocket is open, with templates'),
  connected: z
    .strictObject({
      fields: furtherFields,
      before: messageList.describe('Messages between the accepted token and this one, with templates'),
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
          listening: stateKind.describe('Kind of the message that the AI listens; without it `status.kind`'),
          speaking: stateKind.describe('Kind of the message that the AI speaks; without it `status.kind`'),
        })
        .prefault({}),
      stateField: z
        .string()
        .default('status')
        .describe('Field that holds the state; empty: no field holds it'),
      states: z
        .strictObject({
          listening: z.string().default('listening').describe('The AI listens'),
          speaking: z.string().default('speaking').describe('The AI speaks'),
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
        .default('The reply has failed')
        .describe('Text of the error message, before the reason'),
    })
    .prefault({})
    .describe('The error message for a reply that cannot go on'),
};
