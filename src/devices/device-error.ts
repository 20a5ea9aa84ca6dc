import { messageOf, VoicectlError, type VoicectlErrorOptions } from '../kernel/errors.ts';

/** An error of a device: `audio-device`, exit 8. */
export function deviceError(message: string, options: VoicectlErrorOptions = {}): VoicectlError {
  return new VoicectlError('audio-device', message, { retryable: true, ...options });
}

/** The error for a process that the system cannot start. */
export function cannotStart(thrown: unknown): VoicectlError {
  const why = messageOf(thrown);
  return deviceError(`cannot be started: ${why}`, { cause: thrown });
}
