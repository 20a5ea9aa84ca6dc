import { VoicectlError } from '../kernel/errors.ts';
import { shortestSecret } from '../kernel/spellings.ts';

/** A key or token with more bytes must be the wrong file. */
const maxSecretBytes = 64 * 1024;

/**
 * Returns a key, a token or the secret of the control API. `what` begins the sentence that refuses it. Throws `bad-input` if it
 * is longer than 64 KiB.
 */
export function checkSecret(secret: string, what: string): string {
  if (Buffer.byteLength(secret) <= maxSecretBytes) return secret;
  throw new VoicectlError('bad-input', `${what} is longer than ${maxSecretBytes / 1024} KiB`, {
    hint: 'Is it the right file?',
  });
}

/** Warns about a secret that is too short to be found in texts. An empty one is not a secret. */
export async function warnOfShortSecret(
  secret: string,
  what: string,
  warn: (text: string) => Promise<void>,
): Promise<void> {
  if (secret.length === 0 || secret.length >= shortestSecret) return;
  await warn(
    `${what} is shorter than ${shortestSecret} characters: it is not removed from output, reports and recordings`,
  );
}
