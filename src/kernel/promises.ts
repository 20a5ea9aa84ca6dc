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
