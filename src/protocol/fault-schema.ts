import * as z from 'zod';
import { type Fault, type FaultInput, faultNames, schemaOfFault } from './faults.ts';

/** The schema of any fault: for scenarios and the control API, which most runs of the emulator do not load. */
export const faultSchema = z.discriminatedUnion(
  'name',
  faultNames.map(schemaOfFault) as [z.ZodObject, ...z.ZodObject[]],
) as unknown as z.ZodType<Fault, FaultInput>;
