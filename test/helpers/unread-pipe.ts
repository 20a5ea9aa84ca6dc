import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Sandbox } from './voicectl.ts';

/** Makes a named pipe that is full and that nobody reads from. Whoever opens it is not held up, whoever writes is. */
export function makeFullPipe(sandbox: Sandbox, name: string): string {
  const path = makePipe(sandbox, name);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  sandbox.defer(() => closeSync(fd));
  for (const bytes of [4096, 1]) fill(fd, Buffer.alloc(bytes));
  return path;
}

/** Makes a named pipe that nobody has opened: whoever opens it is held up. */
export function makePipe(sandbox: Sandbox, name: string): string {
  const path = sandbox.path(name);
  execFileSync('mkfifo', [path]);
  return path;
}

function fill(fd: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(fd, bytes);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown;
  }
}
