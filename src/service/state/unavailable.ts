import { VoicectlError } from '../../kernel/errors.ts';

/** The error if the state cannot be reached, so that nothing can be granted: `connect-failed`, retryable. */
export function unavailable(why: string, cause?: unknown): VoicectlError {
  return new VoicectlError('connect-failed', why, { retryable: true, cause });
}

/** Whether a call failed because the state cannot be reached. A bug is something else. */
export function isUnavailable(thrown: unknown): thrown is VoicectlError {
  return thrown instanceof VoicectlError && thrown.code === 'connect-failed';
}
