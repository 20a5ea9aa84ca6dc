import * as z from 'zod';
import { helpSchema } from '../src/commands/help/describe-program.ts';
import { expectFileSchema } from '../src/config/expect-file.ts';
import { scenarioSchema } from '../src/emulator/scenario/scenario-schema.ts';
import { durationMark } from '../src/protocol/schema-places.ts';
import { manifestSchema, recordedEventSchema, summarySchema, wireSchema } from '../src/recording/format.ts';

/** A duration as written in a file: with its unit, or 0. */
const writtenDuration = {
  type: ['string', 'number'],
  pattern: '^\\s*(0+(\\.0+)?|\\d.*[A-Za-z])\\s*$',
  minimum: 0,
  maximum: 0,
};

/** The JSON Schemas that are published for editors, by the name of their file in `schema/`. */
export const schemas: Record<string, object> = {
  'expect-file.schema.json': writtenByUsers(expectFileSchema),
  'scenario.schema.json': writtenByUsers(scenarioSchema),
  'recording.schema.json': recordingSchema(),
  'help.schema.json': z.toJSONSchema(helpSchema),
};

/** The format of recordings, with a definition for each kind of file. */
function recordingSchema(): object {
  const parts = {
    manifest: manifestSchema,
    event: recordedEventSchema,
    wire: wireSchema,
    summary: summarySchema,
  };
  const $defs = Object.fromEntries(
    Object.entries(parts).map(([name, schema]) => {
      const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
      return [name, rest];
    }),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A recording of voicectl',
    description:
      'The folder that `voicectl stream --record` writes: recording.json (manifest), events.jsonl (an event a line), wire.jsonl (a wire a line), summary.json, and the voices you.wav and ai.wav (16 kHz, 16-bit, mono) and both.wav (the same in stereo) on the time axis of `t`.',
    $defs,
    anyOf: Object.keys(parts).map((name) => ({ $ref: `#/$defs/${name}` })),
  };
}

/** The schema of a file that users write, where a duration needs its unit. */
function writtenByUsers(schema: z.ZodType): object {
  const made = z.toJSONSchema(schema, { io: 'input', reused: 'ref' });
  const text = JSON.stringify(made, (_, node) => {
    if (typeof node !== 'object' || node === null || node[durationMark] !== true) return node;
    const description = String(node.description).replace('; in a program also a number of milliseconds', '');
    return { description, ...writtenDuration };
  });
  const { $defs = {}, ...rest } = JSON.parse(text) as { $defs?: Record<string, object> };
  // Definitions that only durations referred to are left out.
  const used = Object.entries($defs).filter(([name]) => text.includes(`"#/$defs/${name}"`));
  return { ...rest, ...(used.length === 0 ? {} : { $defs: Object.fromEntries(used) }) };
}
