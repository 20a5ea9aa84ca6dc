import { VoicectlError } from '../kernel/errors.ts';

/** Names the help of the used command, or of the program. */
export function helpHint(command?: string): string {
  return `See ${['voicectl', command].filter(Boolean).join(' ')} --help.`;
}

/** Gives a `usage` error the help of its command as a hint, unless it has a hint, or a cause that no help explains. */
export function withHelpHint(thrown: unknown, command: string): unknown {
  if (!(thrown instanceof VoicectlError) || thrown.code !== 'usage') return thrown;
  const { code, message, hint, cause, details } = thrown;
  if (hint !== undefined || cause !== undefined) return thrown;
  return new VoicectlError(code, message, { hint: helpHint(command), details });
}
