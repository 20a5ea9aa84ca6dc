import * as z from 'zod';
import { jsonFields } from './fields.ts';

/** How the text messages of the service look. */
export const messageSettings = {
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
};
