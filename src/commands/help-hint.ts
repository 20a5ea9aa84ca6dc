import { VoicectlError } from '../kernel/errors.ts';

/** Names the help of the used command, or of the program. */
export function helpHint(command?: string): string {
  return `See ${['voicectl', command].filter(Boolean).join(' ')} --help.`;
}

/** Gives a `usage` error without a hint the help of its command as a hint. */
export function withHelpHint(thrown: unknown, command: string): unknown {
  if (!(thrown instanceof VoicectlError) || thrown.code !== 'usage' || thrown.hint !== undefined)
    return thrown;
  const { code, message, cause, details } = thrown;
  return new VoicectlError(code, message, { hint: helpHint(command), cause, details });
}
