import { createDeferred } from './deferred.ts';

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
