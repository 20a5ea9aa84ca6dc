import { readText, type Stdin } from '../files/read-text.ts';
import { VoicectlError } from '../kernel/errors.ts';

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * The certificates to trust instead of the built-in authorities, as PEM. Undefined if no file is named. Throws
 * `bad-input` for a file without certificates: TLS would accept it silently and then trust nobody.
 */
export async function readTrusted(path: string | undefined, input: Stdin): Promise<string | undefined> {
  if (path === undefined) return undefined;
  // Loading Node's crypto takes longer than the rest of a token request, and few users name a file.
  const { X509Certificate } = await import('node:crypto');
  const certificates = (await readText(path, input)).match(block) ?? [];
  try {
    if (certificates.length === 0) throw new Error('it has none in PEM format');
    for (const certificate of certificates) new X509Certificate(certificate);
  } catch (cause) {
    throw new VoicectlError('bad-input', `No certificate to trust in ${path}: ${(cause as Error).message}`, {
      cause,
    });
  }
  return certificates.join('\n');
}
