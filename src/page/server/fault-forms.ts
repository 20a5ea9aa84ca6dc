import * as z from 'zod';
import { faultCatalogue, faultNames, schemaOfFault } from '../../protocol/faults.ts';
import { createSchemaPlaces } from '../../protocol/schema-places.ts';
import type { FaultField, FaultForm } from '../messages.ts';

let forms: FaultForm[] | undefined;

/** The catalogue of faults with all their parameters. Reading their schemas takes as long as starting the emulator. */
export function faultForms(): readonly FaultForm[] {
  forms ??= readForms();
  return forms;
}

function readForms(): FaultForm[] {
  return faultNames.map((name) => {
    const { at, summary } = faultCatalogue[name];
    const schema = schemaOfFault(name);
    const { isDuration } = createSchemaPlaces(schema);
    const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    const fields = Object.entries(properties)
      .filter(([key]) => key !== 'name')
      .map(([key, property]) => fieldOf(key, property as Property, isDuration([key])));
    return { name, at, summary, fields };
  });
}

interface Property {
  type?: string;
  enum?: string[];
  default?: unknown;
  description?: string;
}

function fieldOf(name: string, property: Property, isDuration: boolean): FaultField {
  const { enum: choices, type, default: fallback = '', description: help = '' } = property;
  const field = { name, help, fallback: String(fallback) };
  if (choices !== undefined) return { ...field, kind: 'choice', choices };
  if (isDuration) return { ...field, kind: 'duration' };
  return { ...field, kind: type === 'number' || type === 'integer' ? 'number' : 'text' };
}
