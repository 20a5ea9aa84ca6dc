import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { setUpProxies } from '../helpers/proxies.ts';
import { findPython } from '../helpers/python.ts';
import { type Addresses, setUpSandbox, watchProcess } from '../helpers/voicectl.ts';

const script = join(import.meta.dirname, '..', 'foreign', 'relay.py');
const python = findPython('aiohttp', 'websockets');
if (python === undefined)
  console.warn(
    'NOT CHECKED: no Python with aiohttp and websockets (Debian: python3-aiohttp, python3-websockets)',
  );

const sandbox = setUpSandbox();
const startProxy = setUpProxies();
/** With FOREIGN_RELAY=all: 1,000 messages each way, and every close code that may be sent. Takes two minutes. */
const isWhole = process.env.FOREIGN_RELAY === 'all';
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const own = [...range(3_000, 4_999)].filter((code) => isWhole || code % 1_000 === 1);
const codes = [1000, 1001, 1002, 1003, 1005, 1006, ...range(1007, 1014), ...own];

async function runClient(url: string): Promise<{ wrong: string[] }> {
  const args = [script, 'client', '--url', url, '--codes', codes.join(), '--count', isWhole ? '1000' : '40'];
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile(python ?? 'python3', args, (error, out, errors) =>
      error ? reject(new Error(errors)) : resolve(out),
    );
  });
  return JSON.parse(stdout);
}

describe.skipIf(python === undefined)('between a foreign client and a foreign service', () => {
  test(
    'random messages, pings and all closes pass unchanged in both directions',
    async () => {
      const service = watchProcess(python ?? 'python3', [script, 'service'], {});
      sandbox.defer(async () => {
        service.signal('SIGTERM');
        await service.ended;
      });
      const target = JSON.parse(await service.line(/"baseUrl"/)) as Addresses;
      const proxy = await startProxy(target);
      expect((await runClient(proxy.baseUrl)).wrong).toEqual([]);
    },
    isWhole ? 300_000 : 60_000,
  );
});
