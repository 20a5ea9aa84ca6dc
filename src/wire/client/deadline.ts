import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { createDeferred } from '../../kernel/promises.ts';

export interface Deadline {
  clock: Clock;
  ms: number;
  /** What has not happened by then, as the beginning of a sentence. */
  what: string;
  /** Makes the error of this sentence. Default: `timed-out`. */
  error?: (late: string) => VoicectlError;
}

const timedOut = (late: string) => new VoicectlError('timed-out', late);

/** Settles like the promise, or rejects if the deadline comes first. */
export async function withDeadline<T>(
  promise: Promise<T>,
  { clock, ms, what, error = timedOut }: Deadline,
): Promise<T> {
  const late = createDeferred<never>();
  const timer = clock.after(ms, () => late.reject(error(`${what} within ${ms / 1000} s`)));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    timer.cancel();
  }
}
