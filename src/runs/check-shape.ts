import type * as z from 'zod';
import { VoicectlError } from '../../kernel/errors.ts';
import { cutText, escapeText, jsonText } from '../../kernel/escape.ts';
import { describeIssue, readOnce } from '../../protocol/schema-problem.ts';

/** Parses a value from outside. Throws `bad-input` with the first wrong field; `name`: where the value is from. */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  name: string,
): z.output<Schema> {
  const { data, error } = schema.safeParse(value, readOnce);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return data as z.output<Schema>;
  const { path, value: found, expected } = describeIssue(issue);
  const shown = found === undefined ? 'missing' : cutText(jsonText(found), 60);
  throw refuseRun(name, `${path}: ${shown}, expected ${expected}`);
}

export function refuseRun(name: string, why: string): VoicectlError {
  return new VoicectlError('bad-input', `${name}: ${escapeText(why)}`, {
    hint: 'compare takes results of load --out and of stream, check and drill with --json, baselines, and dialects.',
  });
}
