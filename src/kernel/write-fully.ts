import { constants, openSync, readlinkSync, writeSync } from 'node:fs';
import { systemClock } from './clock.ts';

/** How long to wait before a descriptor that is full is tried again. */
const againAfterMs = 5;

/** For opening what a reader may hold up: no call on it blocks the process or one of its threads. */
export const neverBlocks = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * A descriptor of its own of the terminal behind `fd`, on which no write blocks; undefined where the system has none to
 * give. The descriptor that the process was started with is shared with the shell, and stays as it is.
 */
export function openTerminal(fd: number): number | undefined {
  return tryOpen(() => readlinkSync(`/proc/self/fd/${fd}`));
}

/** The same of the terminal that the process was started in, for systems that do not tell what is behind a descriptor. */
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
 * Writes all of `bytes` to a descriptor that never blocks, and waits while it is full. Resolves with whether all is
 * written: `isOver` tells when nobody waits any longer. Rejects with what the system says.
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

/** Writes what a descriptor that never blocks takes now. The result is the rest. */
export function writeSome(fd: number, bytes: Uint8Array): Uint8Array {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown;
  }
  return rest;
}
