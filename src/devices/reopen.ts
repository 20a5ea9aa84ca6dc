import { type Clock, waitUntil } from '../clock.ts';
import { toVoicectlError, type VoicectlError } from '../errors.ts';

const retryEveryMs = 500;

export interface ReopenOptions {
  clock: Clock;
  /** How long a device may be away. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Opens a device that was lost, as soon as it is there again. Throws the last failure when it does not come back in time. */
export async function reopen<Device>(
  open: () => Promise<Device>,
  { clock, timeoutMs, signal }: ReopenOptions,
): Promise<Device> {
  const giveUpAt = clock.now() + timeoutMs;
  for (;;) {
    let failure: VoicectlError;
    try {
      return await open();
    } catch (thrown) {
      failure = toVoicectlError(thrown);
    }
    if (clock.now() + retryEveryMs > giveUpAt) throw failure;
    await waitUntil(clock, clock.now() + retryEveryMs, signal);
  }
}
