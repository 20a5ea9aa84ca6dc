import * as z from 'zod';
import { isSendableCloseCode, maxCloseReasonBytes } from './close-codes.ts';

/** A close code that an endpoint may send, as it is written in a file or a message. */
export const closeCodeSchema = z
  .int()
  .refine(isSendableCloseCode, 'expected a close code that may be sent: 1000-1003, 1007-1014 or 3000-4999')
  .meta({ minimum: 1000, maximum: 4999 });

/** A close reason. Its length in UTF-8 is limited. */
export const closeReasonSchema = z
  .string()
  .refine(
    (text) => Buffer.byteLength(text) <= maxCloseReasonBytes,
    `expected at most ${maxCloseReasonBytes} bytes`,
  );
