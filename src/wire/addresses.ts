import { type AddressInfo, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { wsUrlFor } from '../protocol/paths.ts';

/** Where a device reaches the emulator. */
export interface Addresses {
  /** `http://host:port`, or `https://` with TLS. */
  baseUrl: string;
  /** `ws://host:port`, or `wss://` with TLS. */
  wsUrl: string;
}

/** Whether listening on `host` means every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The network addresses of this machine. Omits link-local IPv6 addresses, which a URL cannot contain. */
export function lanAddresses(family?: 'IPv4' | 'IPv6'): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .filter((one) => family === undefined || one.family === family)
    .map(({ address }) => address);
}

const mappedPrefix = '::ffff:';

/** The address of an end of a connection. Node writes IPv4 on an IPv6 socket as `::ffff:192.0.2.1`. */
export function plainAddress(address = ''): string {
  return address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
}

/** Where to connect for a URL. `servername`: its name for TLS (SNI), which is empty for an IP address. */
export function endpointOf(url: string): { host: string; port: number; isTls: boolean; servername: string } {
  const { protocol, hostname, port } = new URL(url);
  const isTls = protocol === 'https:' || protocol === 'wss:';
  const host = plainHost(hostname);
  return { host, port: Number(port) || (isTls ? 443 : 80), isTls, servername: isIP(host) === 0 ? host : '' };
}

/** The host of a URL without the brackets of an IPv6 address. */
export function plainHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether a host name is an address of this machine. */
export function isOwnAddress(hostname: string): boolean {
  return isLoopbackHost(hostname) || lanAddresses().includes(plainHost(hostname));
}

/** The addresses for this machine, and those for other machines if the server listens on all interfaces. */
export function addressesOf(
  { address, family, port }: AddressInfo,
  protocol: 'http' | 'https',
): Addresses & { lan: Addresses[] } {
  const at = (host: string): Addresses => {
    const baseUrl = `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
    return { baseUrl, wsUrl: wsUrlFor(baseUrl) };
  };
  if (!isAnyAddress(address)) return { ...at(address), lan: [] };
  // Listening on `::` accepts IPv4 too.
  const isV4 = family === 'IPv4';
  return { ...at(isV4 ? '127.0.0.1' : '::1'), lan: lanAddresses(isV4 ? 'IPv4' : undefined).map(at) };
}
