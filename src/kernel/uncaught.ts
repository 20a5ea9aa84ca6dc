/** Takes an error that nobody caught, if it comes from code of others that it runs. Returns whether it did. */
type TakeUncaught = (thrown: unknown) => boolean;

const takers: TakeUncaught[] = [];

/** From now on this is asked for each error that nobody caught, as long as the process lives. */
export function onUncaught(take: TakeUncaught): void {
  takers.push(take);
}

/** Whether an error that nobody caught is not ours: then whoever runs that code has dealt with it. */
export function isForeignError(thrown: unknown): boolean {
  return takers.some((take) => take(thrown));
}
