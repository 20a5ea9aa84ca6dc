import { VoicectlError } from '../../kernel/errors.ts';

/** The state cannot be reached, so nothing can be granted. */
export function unavailable(why: string, cause?: unknown): VoicectlError {
  return new VoicectlError('connect-failed', why, { retryable: true, cause });
}

/** Whether a call failed because the state cannot be reached. A bug is something else. */
export function isUnavailable(thrown: unknown): thrown is VoicectlError {
  return thrown instanceof VoicectlError && thrown.code === 'connect-failed';
}
