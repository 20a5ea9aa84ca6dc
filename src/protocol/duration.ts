import * as z from 'zod';
import { longestDurationMs, readDuration } from './read-duration.ts';

/** A duration in a file or a message: `500ms`, `2s`, or a number of milliseconds. The output is milliseconds. */
export const durationSchema = z
  .union([z.number(), z.string()])
  .transform((value, context) => {
    const duration = typeof value === 'number' ? value : readDuration(value);
    if (duration !== undefined && duration >= 0 && duration <= longestDurationMs) return duration;
    context.addIssue({ code: 'custom', message: 'expected a duration, such as 500ms, 10s or 2m' });
    return z.NEVER;
  })
  .meta({ description: 'A duration such as 500ms, 10s or 2m, or a number of milliseconds' });
