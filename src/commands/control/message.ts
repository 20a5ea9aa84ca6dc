import { VoicectlError } from '../../kernel/errors.ts';

export interface MessageInput {
  status: string | undefined;
  errorCode: string | undefined;
  message: string | undefined;
  json: string | undefined;
}

/** The message that the flags and the argument of `emulator send` describe. Throws `usage`. */
export function parseMessage({ status, errorCode, message, json }: MessageInput) {
  const given = [status, errorCode, json].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw new VoicectlError(
      'usage',
      given.length === 0 ? 'Nothing to send' : 'More than one message to send',
      {
        hint: 'Pass one of --status STATE, --error-code CODE or a JSON message.',
      },
    );
  }
  if (status !== undefined) return { status };
  if (errorCode !== undefined) return { error: { code: errorCode, message: message ?? errorCode } };
  try {
    return { json: JSON.parse(json ?? '') as unknown };
  } catch (cause) {
    throw new VoicectlError('usage', `The message is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}
