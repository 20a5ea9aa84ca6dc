import { VoicectlError } from '../../../kernel/errors.ts';

/** Throws `usage` unless the address is one of a Redis. It is not repeated: it may hold a password. */
export function checkUrl(url: string): void {
  if (isRedisUrl(url)) return;
  throw new VoicectlError('usage', 'The address of the shared state is not a redis:// or rediss:// URL', {
    hint: 'Write it as redis://USER:PASSWORD@HOST:PORT/NUMBER, with / ? # @ and % of the password as %2F %3F %23 %40 and %25.',
  });
}

/** The address of a Redis without its password. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** With a `/`, `?` or `#` in the password its first half would be the host's port, and the other would be shown. */
function isRedisUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password, pathname, search, hash } = new URL(url);
  return (
    /^rediss?:$/.test(protocol) &&
    /^(?:\/\d*)?$/.test(pathname) &&
    !`${search}${hash}`.includes('@') &&
    isDecodable(username + password)
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
