import type * as z from 'zod';
import { cutText, escapeText } from '../kernel/escape.ts';
import { describeIssues, readOnce, shownValueText } from '../protocol/schema-problem.ts';

/** How much of a wrong value is shown. */
const mostShown = 60;

/** Parses a value from outside. Throws what `refuse` makes of the first wrong field. */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  refuse: (why: string) => Error,
): z.output<Schema> {
  const { data, error } = schema.safeParse(value, readOnce);
  const [problem] = describeIssues(error?.issues);
  if (problem === undefined) return data as z.output<Schema>;
  const { path, value: found, expected } = problem;
  throw refuse(`${path}: ${escapeText(cutText(shownValueText(found), mostShown))}, expected ${expected}`);
}
