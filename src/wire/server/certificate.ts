import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { createSecureContext } from 'node:tls';
import { VoicectlError } from '../../kernel/errors.ts';
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

/** Throws `bad-input` if no server can use them: not PEM, a key with a passphrase, the key of another certificate. */
export function checkCertificate({ cert, key }: TlsCertificate): void {
  try {
    // Empty ones would pass the last check, and the server would have no certificate.
    new X509Certificate(cert);
    createPrivateKey(key);
    createSecureContext({ cert, key });
  } catch (cause) {
    const { reason, message } = cause as { reason?: string; message: string };
    throw new VoicectlError('bad-input', `The certificate and the key cannot be used: ${reason ?? message}`, {
      hint: 'Both must be PEM; the key must belong to the certificate and have no passphrase.',
      cause,
    });
  }
}

/** Whether the certificate contains `host`, a name or an IP address. */
export function certificateCovers(cert: string, host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  const x509 = new X509Certificate(cert);
  return (isIP(name) === 0 ? x509.checkHost(name) : x509.checkIP(name)) !== undefined;
}
