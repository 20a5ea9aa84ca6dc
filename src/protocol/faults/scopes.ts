import * as z from 'zod';
import type { FaultPoint } from './fault-spec.ts';

/** Which opportunities a fault takes. */
const count = {
  skip: z
    .int()
    .min(1)
    .optional()
    .describe('Lets this many opportunities pass first: with `times`, faults strike in a fixed order'),
  times: z.int().min(1).optional().describe('Strikes this often, then no more; default: until it is cleared'),
  probability: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe('Chance at each opportunity; the same in each run with a seed'),
};
/** An upgrade does not tell its device. */
const device = { device: z.string().min(1).optional().describe('Strikes this device only') };
const stream = { stream: z.int().min(1).optional().describe('Strikes the stream of this number only') };
const direction = {
  direction: z
    .enum(['device', 'service'])
    .optional()
    .describe('Which side of a proxy it strikes; default: the device'),
};

/** What narrows a fault down, by where it strikes: device, stream, direction and count. */
export const faultScopes = {
  connection: count,
  token: { ...device, ...count },
  upgrade: count,
  authorise: { ...device, ...count },
  connected: { ...device, ...count },
  live: { ...device, ...stream, ...direction, ...count },
  audio: { ...device, ...stream, ...direction, ...count },
} as const satisfies Record<FaultPoint, z.ZodRawShape>;
