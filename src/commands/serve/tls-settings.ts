import type { ServedEmulator } from '../../cluster/processes/messages.ts';
import type { Settings } from '../../config/options.ts';
import { readText, type Stdin } from '../../files/read-text.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { certificateCovers, type TlsCertificate } from '../../wire/server/certificate.ts';

/**
 * The TLS settings of the flags: plain HTTP, TLS with a new certificate, or with the given one. Throws `usage` for
 * `--cert-out` without TLS, `bad-input` for a file that cannot be read.
 */
export async function tlsSettings(
  { tls, cert, tlsKey, certOut }: Settings<'tls' | 'cert' | 'tlsKey' | 'certOut'>,
  input: Stdin,
): Promise<boolean | TlsCertificate> {
  const wanted = tls ?? cert !== undefined;
  if (!wanted && certOut !== undefined) {
    throw new VoicectlError('usage', '--cert-out needs --tls: without it there is no certificate to write');
  }
  if (!wanted || cert === undefined || tlsKey === undefined) return wanted;
  return { cert: await readText(cert, input), key: await readText(tlsKey, input) };
}

/** How curl can verify an emulator: with the file of its certificate, if that contains the address. */
export function curlTrust(
  { certificate, baseUrl }: Pick<ServedEmulator, 'certificate' | 'baseUrl'>,
  file: string | undefined,
): { file: string } | 'anybody' | undefined {
  if (certificate === undefined) return undefined;
  const isChecked = file !== undefined && certificateCovers(certificate, new URL(baseUrl).hostname);
  return isChecked ? { file } : 'anybody';
}
