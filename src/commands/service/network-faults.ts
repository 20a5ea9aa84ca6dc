import { VoicectlError } from '../../kernel/errors.ts';
import type { Fault } from '../../protocol/faults.ts';
import { networkFault } from '../../protocol/network.ts';
import { readFault } from '../../protocol/read-fault.ts';

/** The fault that `--network` asks for, if it is given. Throws `usage` saying what was expected. */
export function networkFaults(network: string | undefined): Fault[] {
  if (network === undefined) return [];
  try {
    return [readFault(networkFault(network))];
  } catch (cause) {
    const [, why = ''] = /^network: (.*)/s.exec((cause as Error).message) ?? [];
    throw new VoicectlError('usage', `Wrong --network: ${why}`, {
      hint: `Such as slow-3g, lossy-wifi,loss=10% or latency=100ms,rate=1Mbit.`,
      cause,
    });
  }
}
