import { VoicectlError } from '../../kernel/errors.ts';

/** Throws `usage` unless this is the address of a Redis. The error does not repeat it: it may hold a password. */
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

/** Refuses a password with a plain `/`, `?` or `#`: the host would end there, and `shownUrl` would show the rest. */
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
