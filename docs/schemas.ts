import * as z from 'zod';
import { expectFileSchema } from '../src/config/expect-file.ts';
import { scenarioSchema } from '../src/emulator/scenario/scenario-schema.ts';
import { eventSchema, manifestSchema, summarySchema, wireSchema } from '../src/recording/format.ts';

/** The JSON Schemas that are published for editors, by the name of their file in `schema/`. */
export const schemas: Record<string, object> = {
  'expect-file.schema.json': z.toJSONSchema(expectFileSchema, { io: 'input', reused: 'ref' }),
  'scenario.schema.json': z.toJSONSchema(scenarioSchema, { io: 'input', reused: 'ref' }),
  'recording.schema.json': recordingSchema(),
};

/** The format of recordings, with a definition for each kind of file. */
function recordingSchema(): object {
  const parts = { manifest: manifestSchema, event: eventSchema, wire: wireSchema, summary: summarySchema };
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
