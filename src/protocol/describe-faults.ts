import * as z from 'zod';
import { type FaultName, faultCatalogue, faultNames } from './faults.ts';
import { defaultMark } from './schema-places.ts';

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

/** What can be chosen of a fault, with its default, for documentation: the scope left out. */
function faultParameters(name: FaultName): { name: string; default: string; help: string }[] {
  const parameters: z.ZodRawShape = faultCatalogue[name].parameters;
  const { properties = {} } = z.toJSONSchema(z.object(parameters), { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([key, property]) => {
    const { default: fallback, [defaultMark]: told, description = '' } = property as Property;
    return { name: key, default: String(fallback ?? told ?? ''), help: description };
  });
}
