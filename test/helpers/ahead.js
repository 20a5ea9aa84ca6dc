import { spawnSync } from 'node:child_process';

/** Starts a program ahead of whatever else the machine does, where that is allowed. */
export const ahead = spawnSync('chrt', ['-r', '10', 'true']).status === 0 ? ['chrt', '-r', '10'] : [];

/**
 * Puts a running program before those too.
 *
 * @param {import('node:child_process').ChildProcess} child
 */
export function putFirst({ pid }) {
  if (ahead.length > 0) spawnSync('chrt', ['-a', '-r', '-p', '20', String(pid)]);
}
