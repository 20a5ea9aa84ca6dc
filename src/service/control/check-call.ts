import * as z from 'zod';
import { VoicectlError } from '../../kernel/errors.ts';
import { eventSchema, messageContentSchema, streamsSchema } from '../../protocol/control.ts';
import { describeIssue, readOnce, schemaProblemText } from '../../protocol/schema-problem.ts';

const selector = streamsSchema;
const schemas = {
  send: z.strictObject({ selector, message: messageContentSchema }),
  speak: z.object({ selector }),
  event: z.strictObject({ selector, name: eventSchema.shape.event }),
  close: z.object({ selector, code: z.number(), reason: z.string() }),
};

/** Throws `usage` naming an argument of a control call that has a wrong value. */
export function checkCall<Call extends keyof typeof schemas>(
  call: Call,
  given: z.input<(typeof schemas)[Call]>,
): void {
  const [issue] = schemas[call].safeParse(given, readOnce).error?.issues ?? [];
  if (issue === undefined) return;
  throw new VoicectlError('usage', `control.${call}: ${schemaProblemText(describeIssue(issue))}`);
}
