import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPython } from './python.ts';
import {
  type Addresses,
  type Json,
  jsonLines,
  type Running,
  type Sandbox,
  watchProcess,
} from './voicectl.ts';

/** The first Python that can run test/foreign/service.py. */
const python = findPython('aiohttp');

/** Whether the foreign service can run here; a test that needs it is left out, loudly, where it cannot. */
export const hasForeignService = python !== undefined;
if (!hasForeignService)
  console.warn('No Python with aiohttp: tests against the foreign service are left out (python3-aiohttp)');

export interface ForeignService extends Addresses {
  /** Everything that arrived, in order. */
  recorded(): Json[];
  /** The audio of all streams that have ended. */
  pcm(): Buffer;
  /** Stops it; then all that it records is there. */
  stop(): Promise<void>;
}

/** Starts the second implementation of the service, which shares nothing with ours. */
export async function startForeignService(
  sandbox: Sandbox,
  args: readonly string[] = [],
): Promise<ForeignService> {
  const record = sandbox.path(`foreign-${Math.random()}.jsonl`);
  const script = join(import.meta.dirname, '..', 'foreign', 'service.py');
  const running: Running = watchProcess(python ?? 'python3', [script, '--record', record, ...args], {});
  const stop = async () => {
    running.signal('SIGTERM');
    await running.ended;
  };
  sandbox.defer(stop);
  const { baseUrl, wsUrl } = JSON.parse(await running.line(/"baseUrl"/)) as Addresses;
  return {
    baseUrl,
    wsUrl,
    recorded: () => jsonLines(readFileSync(record, 'utf8')),
    pcm: () => (existsSync(`${record}.pcm`) ? readFileSync(`${record}.pcm`) : Buffer.alloc(0)),
    stop,
  };
}
