import { networkShape } from '../network.ts';
import { type FaultSpec, fault } from './fault-spec.ts';

/** What can go wrong with the network beneath everything. */
export const networkFaults = {
  network: fault({
    at: 'connection',
    summary: 'the network is slow, uneven, lossy or gone, in both directions; the newest one counts',
    parameters: networkShape,
  }),
} as const satisfies Record<string, FaultSpec>;
