import { createPrivateKey, X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { createSecureContext } from 'node:tls';
import { VoicectlError } from '../../kernel/errors.ts';
import { isAnyAddress, lanAddresses } from '../addresses.ts';
import type { TlsCertificate } from './certificate.ts';

/**
 * The given certificate, or with `true` a new self-signed one for all names under which a service on `host` may be reached.
 * Throws `bad-input` for one that no server can use. What makes certificates is large: it is loaded for a new one only.
 */
export async function prepareTls(
  tls: boolean | TlsCertificate,
  { host, allowHosts }: { host: string; allowHosts: readonly string[] },
): Promise<TlsCertificate | undefined> {
  if (tls === false) return undefined;
  if (tls === true) {
    const { createCertificate } = await import('./self-signed.ts');
    return createCertificate(certificateNames(host, allowHosts));
  }
  checkCertificate(tls);
  return tls;
}

/** Throws `bad-input` if no server can use them: not PEM, a key with a passphrase, the key of another certificate. */
function checkCertificate({ cert, key }: TlsCertificate): void {
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

/** Names under which clients on this machine and its network may reach a service that listens on `host`. */
function certificateNames(host: string, allowHosts: readonly string[]): string[] {
  const own = hostname();
  const names = ['localhost', '127.0.0.1', '::1', ...lanAddresses(), own];
  if (!own.includes('.')) names.push(`${own}.local`);
  return [...new Set([...names, ...(isAnyAddress(host) ? [] : [host]), ...allowHosts])];
}
