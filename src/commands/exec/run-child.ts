import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { VoicectlError } from '../../kernel/errors.ts';
import { cannotRun } from '../child/cannot-run.ts';

export interface ChildOptions {
  /** When aborted, the child gets the signal that we got. */
  signal: AbortSignal;
  /** Whether a terminal also sends its Ctrl-C to the child. */
  onTerminal: boolean;
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Runs a command with our streams. Returns its exit status, or 128 plus the number of the signal that ended it.
 * Throws the signal's reason if it aborts before the command runs, and `usage` if it cannot run.
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
  // If we are killed, nothing can wait for the child.
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  process.once('exit', kill);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', (cause) => reject(cannotExec(command, cause)));
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

/** The exit codes of shells for a missing command, and for one that cannot be run. */
const notFound = 127;
const notExecutable = 126;

function cannotExec(command: string, cause: NodeJS.ErrnoException): VoicectlError {
  const { message } = cannotRun(command, cause);
  const exitCode = cause.code === 'ENOENT' ? notFound : notExecutable;
  return new VoicectlError('usage', message, { cause, details: { exitCode } });
}
