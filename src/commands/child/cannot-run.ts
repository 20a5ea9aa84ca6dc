import { VoicectlError } from '../../kernel/errors.ts';

/** The error for a command that does not start. */
export function cannotRun(command: string, cause: NodeJS.ErrnoException): VoicectlError {
  const why = cause.code === 'ENOENT' ? 'command not found' : cause.message;
  return new VoicectlError('usage', `Cannot run ${command}: ${why}`, { cause });
}
