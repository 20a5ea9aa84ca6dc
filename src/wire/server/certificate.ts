import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { plainHost } from '../addresses.ts';

/** A certificate, or a chain of them with the server's first, and its private key: both PEM. */
export interface TlsCertificate {
  cert: string;
  key: string;
}

/** Whether the certificate contains `host`, a name or an IP address. */
export function certificateCovers(cert: string, host: string): boolean {
  const name = plainHost(host);
  const x509 = new X509Certificate(cert);
  return (isIP(name) === 0 ? x509.checkHost(name) : x509.checkIP(name)) !== undefined;
}
