import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { wsUrlFor } from '../../protocol/paths.ts';

/** Where a client finds the emulator. */
export interface Addresses {
  /** `http://host:port`, or `https://` with TLS. */
  baseUrl: string;
  /** `ws://host:port`, or `wss://` with TLS. */
  wsUrl: string;
}

/** Whether it means every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The addresses of this machine in its networks. Link-local ones of IPv6 cannot be written in a URL and are left out. */
export function lanAddresses(family?: 'IPv4' | 'IPv6'): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .filter((one) => family === undefined || one.family === family)
    .map(({ address }) => address);
}

/** The addresses to call from this machine, and those to type on others where it listens on all of its addresses. */
export function addressesOf(
  { address, family, port }: AddressInfo,
  protocol: 'http' | 'https',
): Addresses & { lan: Addresses[] } {
  const at = (host: string): Addresses => {
    const baseUrl = `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
    return { baseUrl, wsUrl: wsUrlFor(baseUrl) };
  };
  if (!isAnyAddress(address)) return { ...at(address), lan: [] };
  // Listening on `::` takes IPv4 too.
  const isV4 = family === 'IPv4';
  return { ...at(isV4 ? '127.0.0.1' : '::1'), lan: lanAddresses(isV4 ? 'IPv4' : undefined).map(at) };
}
