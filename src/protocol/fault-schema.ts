import * as z from 'zod';
import {
  type Fault,
  type FaultInput,
  type FaultName,
  faultCatalogue,
  faultNames,
  schemaOfFault,
} from './faults.ts';
import { defaultMark } from './schema-places.ts';

/** The schema of any fault: for scenarios and the control API, which most runs of the emulator do not load. */
export const faultSchema = z.discriminatedUnion(
  'name',
  faultNames.map(schemaOfFault) as [z.ZodObject, ...z.ZodObject[]],
) as unknown as z.ZodType<Fault, FaultInput>;

/** The catalogue, for documentation. */
export function describeCatalogue() {
  return faultNames.map((name) => {
    const { at, summary } = faultCatalogue[name];
    return { name, at, summary, parameters: faultParameters(name) };
  });
}

interface Property {
  default?: unknown;
  description?: string;
  [defaultMark]?: string;
}

/** The parameters of a fault with their defaults, for documentation; without its scope. */
function faultParameters(name: FaultName): { name: string; default: string; help: string }[] {
  const parameters: z.ZodRawShape = faultCatalogue[name].parameters;
  const { properties = {} } = z.toJSONSchema(z.object(parameters), { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([key, property]) => {
    const { default: fallback, [defaultMark]: described, description = '' } = property as Property;
    return { name: key, default: String(fallback ?? described ?? ''), help: description };
  });
}
