import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { controlOperations, pageData } from '../../protocol/control.ts';
import { jsonMediaType } from '../../protocol/token-request.ts';

/** Media types of requests that no form of another page can send. */
const mediaTypes: readonly string[] = [jsonMediaType, ...controlOperations.speak.binary];

/** Whether a browser sent the request: browsers name the page by Origin, by Sec-Fetch-Site, or by both. */
function isFromBrowser({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

/** Whether the request changes something, or reads what only the page of the emulator may read. */
function acts({ method }: IncomingMessage, path: string): boolean {
  return method !== 'GET' || path === controlOperations.live.path || path.startsWith(pageData);
}

/**
 * Whether the page that sends this request may use the control API: only a page of this origin may. If a browser sends no
 * Sec-Fetch-Site, a page of another port of this machine may send requests that only read, but the browser does not show
 * it the answers. Always true for programs.
 */
export function isPageAllowed(
  request: IncomingMessage,
  { isSecure, path }: { isSecure: boolean; path: string },
): boolean {
  const { origin, host, 'sec-fetch-site': site, 'content-type': mediaType = '' } = request.headers;
  if (!isFromBrowser(request)) return true;
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return false;
  if (!acts(request, path)) return true;
  const own = `${isSecure ? 'https' : 'http'}://${host ?? ''}`.toLowerCase();
  if (origin !== undefined && origin !== own) return false;
  const hasBody = request.method !== 'GET' && request.headers['content-length'] !== '0';
  return !hasBody || mediaTypes.includes(mediaType.split(';')[0]?.trim().toLowerCase() ?? '');
}

/** Whether the request must carry the page token, which proves that the page of the emulator sends it. */
export function needsPageToken(request: IncomingMessage, path: string): boolean {
  return isFromBrowser(request) && acts(request, path);
}

/** Compares secrets in a time that does not depend on them. */
export function isSameSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}
