import { isIP } from 'node:net';

/** Whether a key or token may go there: over TLS, or within this machine. */
export function isSafeTransport(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || protocol === 'wss:' || isLoopbackHost(hostname);
}

/** Whether a host name or address means this machine only. Only there is TLS optional. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  if (name.startsWith('127.') && isIP(name) === 4) return true;
  return name === '::1' || name === '[::1]' || /^(?:[\w-]+\.)*localhost$/.test(name);
}
