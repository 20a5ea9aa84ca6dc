import * as z from 'zod';
import {
  expectedDuration,
  expectedUnit,
  lacksUnit,
  longestDurationMs,
  readDuration,
} from './read-duration.ts';
import { durationMark } from './schema-places.ts';

/**
 * A duration: `500ms`, `2s`, or in a program a number of milliseconds. The output is milliseconds. What a user writes
 * needs its unit: readers of files and command lines refuse a plain number here.
 */
export const durationSchema = z
  .union([z.number(), z.string()])
  .transform((value, context) => {
    if (typeof value === 'string' && lacksUnit(value)) {
      context.addIssue({ code: 'custom', message: `expected ${expectedUnit(value)}` });
      return z.NEVER;
    }
    const duration = typeof value === 'number' ? value : readDuration(value);
    if (duration !== undefined && duration >= 0 && duration <= longestDurationMs) return duration;
    context.addIssue({ code: 'custom', message: `expected ${expectedDuration}` });
    return z.NEVER;
  })
  .meta({
    description: 'A duration such as 500ms, 10s or 2m; in a program also a number of milliseconds',
    [durationMark]: true,
  });
