/** Handles an uncaught error if it comes from foreign code that it runs. Returns whether it did. */
type TakeUncaught = (thrown: unknown) => boolean;

const takers: TakeUncaught[] = [];

/** From now on, calls this for each uncaught error until the process ends. */
export function onUncaught(take: TakeUncaught): void {
  takers.push(take);
}

/** Whether an uncaught error is from foreign code: then whoever runs that code has handled it. */
export function isForeignError(thrown: unknown): boolean {
  return takers.some((take) => take(thrown));
}
