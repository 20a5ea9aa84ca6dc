import type { Emulator } from '../emulator/emulator.ts';
import { writeReport } from './report-file.ts';

/** Writes the URLs as JSON. The file appears whole: whoever waits for it never reads half of it. */
export async function writeReadyFile(path: string, { baseUrl, wsUrl, port }: Emulator): Promise<void> {
  await writeReport(path, `${JSON.stringify({ baseUrl, wsUrl, port, pid: process.pid })}\n`);
}
