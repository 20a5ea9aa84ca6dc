import type { Clock } from '../../kernel/clock.ts';
import { createDeferred } from '../../kernel/deferred.ts';
import { VoicectlError } from '../../kernel/errors.ts';

export interface Deadline {
  clock: Clock;
  ms: number;
  /** What has not happened by then, as the beginning of a sentence. */
  what: string;
}

/** Settles like the promise, or rejects with `timed-out` if that comes first. */
export async function withDeadline<T>(promise: Promise<T>, { clock, ms, what }: Deadline): Promise<T> {
  const late = createDeferred<never>();
  const timer = clock.after(ms, () =>
    late.reject(new VoicectlError('timed-out', `${what} within ${ms / 1000} s`)),
  );
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    timer.cancel();
  }
}
