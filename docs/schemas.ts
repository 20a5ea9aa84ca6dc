import * as z from 'zod';
import { scenarioSchema } from '../src/emulator/scenario/scenario-schema.ts';

/** The JSON Schemas that are published for editors, by the name of their file in `schema/`. */
export const schemas: Record<string, object> = {
  'scenario.schema.json': z.toJSONSchema(scenarioSchema, { io: 'input', reused: 'ref' }),
};
