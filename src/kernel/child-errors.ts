import type { ChildProcess } from 'node:child_process';

/**
 * Passes on what a child of ours writes to its standard error, which must be a pipe: at its end Node sets an inherited
 * terminal back to how it was, even while we have a screen there.
 */
export function passErrors({ stderr }: Pick<ChildProcess, 'stderr'>): void {
  stderr?.on('data', (text: Buffer) => process.stderr.write(text));
}
