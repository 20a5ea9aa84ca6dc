import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
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
const script = join(import.meta.dirname, '..', 'foreign', 'service.py');

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

/** The process that all foreign services of a test file are in: to start Python takes longer than most tests. */
let host: Running | undefined;
let count = 0;
afterAll(async () => {
  host?.child.stdin?.end();
  await host?.ended;
  host = undefined;
});

async function order(id: number, args?: readonly string[]): Promise<Json> {
  host ??= watchProcess(python ?? 'python3', [script, '--many'], {});
  host.child.stdin?.write(`${JSON.stringify({ id, arguments: args })}\n`);
  return JSON.parse(await host.line(new RegExp(`"id": ${id},.*${args ? 'baseUrl' : 'stopped'}`)));
}

/** Starts the second implementation of the service, which shares nothing with ours. */
export async function startForeignService(
  sandbox: Pick<Sandbox, 'path' | 'defer'>,
  args: readonly string[] = [],
): Promise<ForeignService> {
  count += 1;
  const id = count;
  const record = sandbox.path(`foreign-${id}.jsonl`);
  const { baseUrl, wsUrl } = (await order(id, ['--record', record, ...args])) as unknown as Addresses;
  let stopping: Promise<Json> | undefined;
  const stop = async () => {
    stopping ??= order(id);
    await stopping;
  };
  sandbox.defer(stop);
  return {
    baseUrl,
    wsUrl,
    recorded: () => jsonLines(readFileSync(record, 'utf8')),
    pcm: () => (existsSync(`${record}.pcm`) ? readFileSync(`${record}.pcm`) : Buffer.alloc(0)),
    stop,
  };
}
