import ms from 'ms';
import * as z from 'zod';

/** What a timer of Node can hold: longer ones would fire at once. */
export const longestDurationMs = 2 ** 31 - 1;

/** Milliseconds of `1500ms`, `10s`, `2m` or a bare number of milliseconds; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const value = /^\s*\d.{0,30}$/.test(text) ? ms(text as ms.StringValue) : undefined;
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}

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
