import { types } from 'node:util';

/**
 * Whether this is an error, even one of another realm: in Jest the errors of Node's own modules are not
 * instances of the global `Error`.
 */
export function isError(thrown: unknown): thrown is Error {
  return types.isNativeError(thrown) || thrown instanceof Error;
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown);
}
