import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isAnyAddress, lanAddresses } from './addresses.ts';

/** A certificate, or a chain of them with the server's first, and its private key: both PEM. */
export interface TlsCertificate {
  cert: string;
  key: string;
}

/** Names under which clients on this machine and its network may reach an emulator that listens on `host`. */
export function certificateNames(host: string, allowHosts: readonly string[]): string[] {
  const own = hostname();
  const names = ['localhost', '127.0.0.1', '::1', ...lanAddresses(), own];
  if (!own.includes('.')) names.push(`${own}.local`);
  return [...new Set([...names, ...(isAnyAddress(host) ? [] : [host]), ...allowHosts])];
}

/** Whether the certificate contains `host`, a name or an IP address. */
export function certificateCovers(cert: string, host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  const x509 = new X509Certificate(cert);
  return (isIP(name) === 0 ? x509.checkHost(name) : x509.checkIP(name)) !== undefined;
}
