import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultDevice } from '../../config/target.ts';
import { writeFailure } from '../../files/refusal.ts';
import { developmentKey } from '../../protocol/token-request.ts';

export interface ChildTarget {
  baseUrl: string;
  wsUrl: string;
  /** The keys that the emulator accepts; any key if this is empty. */
  acceptKeys: readonly string[];
  device: string | undefined;
}

/** The variables that tell a command about the emulator started for it. */
export function childEnvironment({ baseUrl, wsUrl, acceptKeys, device }: ChildTarget) {
  return {
    VOICECTL_BASE_URL: baseUrl,
    VOICECTL_WS_URL: wsUrl,
    VOICECTL_API_KEY: acceptKeys[0] ?? developmentKey,
    VOICECTL_DEVICE: device ?? defaultDevice(),
  };
}

/** Files that make a child process trust a certificate. Call `remove` when the child has ended. */
export interface TrustFiles {
  env: Record<string, string>;
  remove(): Promise<void>;
}

/**
 * Writes the certificate for a child: VOICECTL_CA for voicectl and for `curl --cacert`, NODE_EXTRA_CA_CERTS for
 * Node programs, together with the file that it already names. Throws `input-output`.
 */
export async function writeTrustFiles(
  certificate: string,
  { NODE_EXTRA_CA_CERTS: before }: Readonly<Record<string, string | undefined>>,
): Promise<TrustFiles> {
  const under = join(tmpdir(), 'voicectl-tls-');
  const folder = await mkdtemp(under).catch((thrown) => {
    throw writeFailure(under, thrown);
  });
  const remove = () => rm(folder, { recursive: true, force: true });
  const [own, all] = [join(folder, 'cert.pem'), join(folder, 'with-others.pem')];
  try {
    // Node only warns about a missing file.
    const others = before ? await readFile(before, 'utf8').catch(() => '') : '';
    await writeFile(own, certificate);
    await writeFile(all, `${certificate}\n${others}`);
  } catch (cause) {
    await remove();
    throw writeFailure(folder, cause);
  }
  return { env: { VOICECTL_CA: own, NODE_EXTRA_CA_CERTS: all }, remove };
}
