import { createHash } from 'node:crypto';

/**
 * Which API keys the token endpoint accepts: the given ones, or any non-empty key if none is given. Kept as
 * hashes, so that neither the time of a comparison nor a heap dump reveals a key.
 */
export function createAcceptedKeys(keys: readonly string[]): (key: string) => boolean {
  if (keys.length === 0) return () => true;
  const hash = (key: string) => createHash('sha256').update(key).digest('base64');
  const accepted = new Set(keys.map(hash));
  return (key) => accepted.has(hash(key));
}
