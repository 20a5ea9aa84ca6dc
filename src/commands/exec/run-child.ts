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

/**
 * Runs a command with our own streams; the result is its status, or 128 and the number of the signal that ended it.
 * Throws the signal's reason where it is aborted before the command runs, `usage` where it cannot be run.
 */
export async function runChild(
  [command = '', ...args]: readonly string[],
  { signal, onTerminal, cwd, env }: ChildOptions,
): Promise<number> {
  signal.throwIfAborted();
  const child = spawn(command, args, { stdio: 'inherit', cwd, env });
  const stop = () => {
    const name = signalOf(signal.reason);
    if (!(name === 'SIGINT' && onTerminal)) child.kill(name);
  };
  // Where we are ended at once, nobody is left to wait for it.
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  process.once('exit', kill);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', (cause) => reject(cannotRun(command, cause)));
      child.once('exit', (code, ended) => resolve(code ?? 128 + constants.signals[ended ?? 'SIGTERM']));
    });
  } finally {
    signal.removeEventListener('abort', stop);
    process.off('exit', kill);
  }
}

function signalOf(reason: unknown): NodeJS.Signals {
  const code = reason instanceof VoicectlError ? reason.code : undefined;
  if (code === 'interrupted') return 'SIGINT';
  return code === 'hung-up' ? 'SIGHUP' : 'SIGTERM';
}

function cannotRun(command: string, cause: NodeJS.ErrnoException): VoicectlError {
  const missing = cause.code === 'ENOENT';
  const why = missing ? 'command not found' : cause.message;
  return new VoicectlError('usage', `Cannot run ${command}: ${why}`, {
    cause,
    details: { exitCode: missing ? notFound : notExecutable },
  });
}
