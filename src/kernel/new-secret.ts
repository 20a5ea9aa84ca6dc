import { randomBytes } from 'node:crypto';

/** A secret that nobody can guess, of characters that need no quotes in a shell, a header or a URL. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url');
}
