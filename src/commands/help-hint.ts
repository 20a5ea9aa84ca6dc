import { VoicectlError } from '../kernel/errors.ts';

/** Names the help of the command that was used; of the program where there is none. */
export function helpHint(command?: string): string {
  return `See ${['voicectl', command].filter(Boolean).join(' ')} --help.`;
}

/** A `usage` error that does not say yet how to mend it names the help of its command. */
export function withHelpHint(thrown: unknown, command: string): unknown {
  if (!(thrown instanceof VoicectlError) || thrown.code !== 'usage' || thrown.hint !== undefined)
    return thrown;
  const { code, message, cause, details } = thrown;
  return new VoicectlError(code, message, { hint: helpHint(command), cause, details });
}
