import { parseRedisUrl } from '../../config/parse.ts';
import { VoicectlError } from '../../kernel/errors.ts';

/** Throws `usage` unless this is the address of a Redis. The error does not repeat it: it may hold a password. */
export function checkUrl(url: string): void {
  try {
    parseRedisUrl(url);
  } catch {
    throw new VoicectlError('usage', 'The address of the shared state is not a redis:// or rediss:// URL', {
      hint: 'Write it as redis://USER:PASSWORD@HOST:PORT/NUMBER, with / ? # @ and % in the password escaped as %2F %3F %23 %40 and %25.',
    });
  }
}

/** The address of a Redis without its password. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
