import * as z from 'zod';
import { parseDuration } from './parse.ts';

/** A duration as it is typed on the command line, `500ms`, `2s` or a number of milliseconds, in milliseconds. */
export const duration = z
  .union([z.string(), z.number()])
  .transform((value, context) => {
    try {
      return parseDuration(String(value));
    } catch (thrown) {
      context.addIssue({ code: 'custom', message: (thrown as Error).message, input: value });
      return z.NEVER;
    }
  })
  .meta({ examples: ['500ms', '2s'] });
