import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares secrets in a time that does not depend on them. */
export function isSameSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}
