import * as z from 'zod';
import { defaultFrameMs } from '../audio-format.ts';
import { closesSchema } from './closes.ts';
import { messageSettings } from './messages.ts';

export const streamSchema = z
  .strictObject({
    kindField: z.string().min(1).default('type').describe('Field that names the kind of a service message'),
    ...messageSettings,
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
    closes: closesSchema,
  })
  .prefault({});
