import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';

export interface Deadline {
  clock: Clock;
  ms: number;
  /** What has not happened by then, as the beginning of a sentence. */
  what: string;
}

/** Settles like the promise, or rejects with `timed-out` if that comes first. */
export async function withDeadline<T>(promise: Promise<T>, { clock, ms, what }: Deadline): Promise<T> {
  let timer: ClockTimer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(ms, () => reject(new VoicectlError('timed-out', `${what} within ${ms / 1000} s`)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer?.cancel();
  }
}
