import * as z from 'zod';
import { expectFileSchema } from '../src/config/expect-file.ts';
import { scenarioSchema } from '../src/emulator/scenario/scenario-schema.ts';

/** The JSON Schemas that are published for editors, by the name of their file in `schema/`. */
export const schemas: Record<string, object> = {
  'expect-file.schema.json': z.toJSONSchema(expectFileSchema, { io: 'input', reused: 'ref' }),
  'scenario.schema.json': z.toJSONSchema(scenarioSchema, { io: 'input', reused: 'ref' }),
};
