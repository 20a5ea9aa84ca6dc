import { VoicectlError } from '../../kernel/errors.ts';
import type { Fault } from '../../protocol/faults.ts';
import { networkFault, networkProfileNames } from '../../protocol/network.ts';
import { readFault } from '../../protocol/read-fault.ts';

/** The fault that `--network` asks for, if it is given. Throws `usage` saying what was expected. */
export function networkFaults(network: string | undefined): Fault[] {
  if (network === undefined) return [];
  try {
    return [readFault(networkFault(network))];
  } catch (cause) {
    const [, why = ''] = /^network: (.*)/s.exec((cause as Error).message) ?? [];
    throw new VoicectlError('usage', `Wrong --network: ${why}`, {
      hint: `One of ${networkProfileNames.join(', ')}, or settings such as latency=100ms,rate=1Mbit.`,
      cause,
    });
  }
}
