import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { toVoicectlError, type VoicectlError } from '../../kernel/errors.ts';

const retryEveryMs = 500;

export interface ReopenOptions {
  clock: Clock;
  /** How long a device may be away. */
  timeoutMs: number;
  signal: AbortSignal;
  /** How the device was lost. */
  loss: VoicectlError;
}

/**
 * Opens a lost device as soon as it is back. Throws the last failure, or the loss, if it does not come back in time. A
 * device that opens too late is closed.
 */
export async function reopen<Device extends { stop(): Promise<void> }>(
  open: (signal: AbortSignal) => Promise<Device>,
  { clock, timeoutMs, signal, loss }: ReopenOptions,
): Promise<Device> {
  const giveUpAt = clock.now() + timeoutMs;
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  let failure = loss;
  const attempt = async () => {
    for (;;) {
      try {
        const device = await open(until);
        if (!until.aborted) return device;
        await device.stop();
      } catch (thrown) {
        failure = toVoicectlError(thrown);
      }
      if (clock.now() + retryEveryMs > giveUpAt) throw failure;
      await waitUntil(clock, clock.now() + retryEveryMs, until);
    }
  };
  const tooLate = waitUntil(clock, giveUpAt, until).then(() => {
    throw failure;
  });
  try {
    return await Promise.race([attempt(), tooLate]);
  } finally {
    done.abort();
    tooLate.catch(() => {});
  }
}
