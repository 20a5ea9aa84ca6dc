import type { ServedEmulator } from '../../cluster/processes/messages.ts';
import { writeWhole } from '../../files/write-whole.ts';

/** Writes the URLs, and with TLS the certificate, as JSON. */
export async function writeReadyFile(
  path: string,
  emulator: Pick<ServedEmulator, 'baseUrl' | 'wsUrl' | 'port' | 'lan' | 'certificate'>,
  giveUp: AbortSignal,
): Promise<void> {
  const { baseUrl, wsUrl, port, lan, certificate } = emulator;
  const ready = {
    baseUrl,
    wsUrl,
    port,
    pid: process.pid,
    ...(lan.length === 0 ? {} : { lan }),
    ...(certificate === undefined ? {} : { certificate }),
  };
  await writeWhole(path, `${JSON.stringify(ready)}\n`, { giveUp });
}
