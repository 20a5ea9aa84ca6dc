import type { Clock } from './clock.ts';
import { VoicectlError } from './errors.ts';

/** A promise that is settled from outside. */
export interface Deferred<T> {
  promise: Promise<T>;
  resolve: (value: T | PromiseLike<T>) => void;
  reject: (reason: unknown) => void;
}

/** Like `Promise.withResolvers`, which Node 20 does not have. */
export function createDeferred<T = void>(): Deferred<T> {
  let resolve: Deferred<T>['resolve'] = () => {};
  let reject: Deferred<T>['reject'] = () => {};
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}

/** Resolves when the signal is aborted, or at once if it already is. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Settles like the promise, or rejects with the signal's reason if that comes first. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = createDeferred<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    // Race even if the signal has already aborted: nothing else handles a later rejection of the promise.
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

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
