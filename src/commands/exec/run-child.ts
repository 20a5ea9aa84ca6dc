import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { VoicectlError } from '../../kernel/errors.ts';

export interface ChildOptions {
  /** When it is aborted the child is asked to end, with the signal that we were. */
  signal: AbortSignal;
  /** Whether a terminal sends its Ctrl-C to the child as well as to us. */
  onTerminal: boolean;
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** What shells answer for a command that is not there, and for one that cannot be run. */
const notFound = 127;
const notExecutable = 126;

/** Runs a command with our own streams; the result is its status, or 128 and the number of the signal that ended it. */
export function runChild(
  [command = '', ...args]: readonly string[],
  { signal, onTerminal, cwd, env }: ChildOptions,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', cwd, env });
    const stop = () => {
      const interrupted = signal.reason instanceof VoicectlError && signal.reason.code === 'interrupted';
      if (!(interrupted && onTerminal)) child.kill(interrupted ? 'SIGINT' : 'SIGTERM');
    };
    signal.addEventListener('abort', stop, { once: true });
    child.once('error', (cause: NodeJS.ErrnoException) => {
      const missing = cause.code === 'ENOENT';
      reject(
        new VoicectlError(
          'usage',
          `Cannot run ${command}: ${missing ? 'command not found' : cause.message}`,
          {
            cause,
            details: { exitCode: missing ? notFound : notExecutable },
          },
        ),
      );
    });
    child.once('exit', (code, ended) => {
      signal.removeEventListener('abort', stop);
      resolve(code ?? 128 + constants.signals[ended ?? 'SIGTERM']);
    });
  });
}
