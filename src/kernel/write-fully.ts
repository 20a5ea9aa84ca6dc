import { constants, openSync, readlinkSync, writeSync } from 'node:fs';
import { systemClock } from './clock.ts';

/** How long to wait before trying a full descriptor again. */
export const againAfterMs = 5;

/** Flags for opening a file whose reader may be slow: no call on it blocks the process or a thread. */
export const neverBlocks = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * A new, non-blocking descriptor of the terminal behind `fd`; undefined if the system does not
 * give one. The original descriptor is shared with the shell, and stays unchanged.
 */
export function openTerminal(fd: number): number | undefined {
  return tryOpen(() => readlinkSync(`/proc/self/fd/${fd}`));
}

/** The same for the controlling terminal, on systems that do not show what is behind a descriptor. */
export function openOwnTerminal(): number | undefined {
  return tryOpen(() => '/dev/tty');
}

function tryOpen(find: () => string): number | undefined {
  try {
    return openSync(find(), constants.O_WRONLY | neverBlocks);
  } catch {
    return undefined;
  }
}

/**
 * Writes all of `bytes` to a non-blocking descriptor, and waits while it is full. Resolves to whether all is
 * written: `isOver` stops the wait. Rejects with the system's error.
 */
export function writeFully(fd: number, bytes: Uint8Array, isOver: () => boolean): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let rest = bytes;
    const next = () => {
      try {
        rest = writeSome(fd, rest);
      } catch (thrown) {
        reject(thrown);
        return;
      }
      if (rest.length === 0) resolve(true);
      else if (isOver()) resolve(false);
      else systemClock.after(againAfterMs, next);
    };
    next();
  });
}

/** Writes what a non-blocking descriptor takes now. Returns the rest. */
export function writeSome(fd: number, bytes: Uint8Array): Uint8Array {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown;
  }
  return rest;
}
