/** Handles an uncaught error if it comes from foreign code that it runs. Returns whether it did. */
type UncaughtHandler = (thrown: unknown) => boolean;

const handlers: UncaughtHandler[] = [];

/** From now on, calls this for each uncaught error until the process ends. */
export function onUncaught(handle: UncaughtHandler): void {
  handlers.push(handle);
}

/** Whether an uncaught error is from foreign code: then whoever runs that code has handled it. */
export function isForeignError(thrown: unknown): boolean {
  return handlers.some((handle) => handle(thrown));
}
