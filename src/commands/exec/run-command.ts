import { constants } from 'node:os';
import { cannotRun, startCommand } from '../../kernel/command-process.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { type EndSignal, endReasons } from '../../kernel/io.ts';
import { writeTrustFiles } from '../child/environment.ts';
import type { ContextOf } from '../command.ts';

/** Runs the command with these variables, and with files that make it trust the certificate. */
export async function runCommand(
  { args, io, signal, leaveCtrlC }: ContextOf<'exec'>,
  env: Record<string, string>,
  certificate: string | undefined,
): Promise<number> {
  const trust = certificate === undefined ? undefined : await writeTrustFiles(certificate, io.env);
  try {
    return await runChild(args, {
      ...{ signal, leaveCtrlC },
      cwd: io.cwd,
      env: { ...io.env, ...env, ...trust?.env },
    });
  } finally {
    await trust?.remove();
  }
}

interface ChildOptions extends Pick<ContextOf<'exec'>, 'leaveCtrlC'> {
  /** When aborted, the child gets the signal that we got, and has a moment to end. */
  signal: AbortSignal;
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
}

/**
 * Runs a command with our streams. Returns its exit status, or 128 plus the number of the signal that ended it.
 * Throws the signal's reason if it aborts before the command runs or the command ignores it, and `usage` if it
 * cannot run.
 */
export async function runChild(
  [command = '', ...args]: readonly string[],
  { signal, leaveCtrlC, cwd, env }: ChildOptions,
): Promise<number> {
  signal.throwIfAborted();
  const running = startCommand(command, args, { stdio: 'inherit', sharesTerminal: true, cwd, env });
  leaveCtrlC(true);
  let ending: Promise<void> | undefined;
  const stop = () => {
    ending = running.end({ signal: signalOf(signal.reason) });
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    await running.started.catch((cause) => {
      throw cannotExec(command, cause);
    });
    const { code, signal: by } = await running.ended;
    await ending;
    if (by === 'SIGKILL' && ending !== undefined) throw signal.reason;
    return code ?? 128 + constants.signals[by ?? 'SIGTERM'];
  } finally {
    leaveCtrlC(false);
    signal.removeEventListener('abort', stop);
    running.release();
  }
}

function signalOf(reason: unknown): NodeJS.Signals {
  const code = reason instanceof VoicectlError ? reason.code : undefined;
  const names = Object.keys(endReasons) as EndSignal[];
  return names.find((name) => endReasons[name].code === code) ?? 'SIGTERM';
}

/** The exit codes of shells for a missing command, and for one that cannot be run. */
const notFound = 127;
const notExecutable = 126;

function cannotExec(command: string, cause: NodeJS.ErrnoException): VoicectlError {
  const { message } = cannotRun(command, cause);
  const exitCode = cause.code === 'ENOENT' ? notFound : notExecutable;
  return new VoicectlError('usage', message, { cause, details: { exitCode } });
}
