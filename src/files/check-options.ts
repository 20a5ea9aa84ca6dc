import * as z from 'zod';
import { VoicectlError } from '../kernel/errors.ts';
import { describeIssues, readOnce, type SecretNames, schemaProblemText } from '../protocol/schema-problem.ts';

/** An option that is a function. */
export const functionOption = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === 'function',
  'a function',
);
/** An option that is an object, which is checked later or by its user. */
export const objectOption = z.custom<object>(
  (value) => typeof value === 'object' && value !== null,
  'an object',
);
export const clockOption = z.object({ now: functionOption, wall: functionOption, after: functionOption });

interface OptionsOfCall<Name extends string> {
  /** What has the options, as in "Invalid emulator options". */
  of: string;
  schemas: Readonly<Record<Name, z.ZodType>>;
  /** Options that must be there. */
  required?: readonly NoInfer<Name>[];
  /** Names whose values are never shown. */
  secrets?: SecretNames;
}

/**
 * Checks the options of a call of the library: a program in JavaScript may give any. Throws `usage` naming every option that
 * does not exist, is missing or has a wrong value.
 */
export function checkOptions<Name extends string>(
  options: unknown,
  { of, schemas, required = [], secrets }: OptionsOfCall<Name>,
): void {
  const needed: readonly string[] = required;
  const shape = Object.entries<z.ZodType>(schemas).map(([name, schema]) => [
    name,
    needed.includes(name) ? schema : schema.optional(),
  ]);
  const { error } = z.strictObject(Object.fromEntries(shape)).safeParse(options, readOnce);
  if (error === undefined) return;
  const problems = describeIssues(error.issues, secrets);
  const texts = problems.map((problem) => schemaProblemText(problem, `unknown option ${problem.path}`));
  throw new VoicectlError('usage', `Invalid ${of} options: ${texts.join('; ')}`, {
    hint: `The options are ${Object.keys(schemas).join(', ')}.`,
    details: { problems },
  });
}
