import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInProcess } from './in-process.ts';
import { startRedis } from './redis.ts';
import type { Program } from './said.ts';
import type { Addresses } from './voicectl.ts';

const example = join(import.meta.dirname, '..', '..', 'examples', 'cluster', 'haproxy.cfg');

export const hasBalancer = spawnSync('haproxy', ['-v']).status === 0;
if (!hasBalancer) {
  console.warn('NOT CHECKED: there is no haproxy (Debian: haproxy); tests of a balancer are skipped');
}

export interface Cluster {
  /** Of the balancer. */
  readonly baseUrl: string;
  readonly wsUrl: string;
  readonly emulators: readonly { running: Program; baseUrl: string }[];
  close(): Promise<void>;
}

/** Starts three emulators of the built program in this process over a Redis of their own, behind HAProxy with the settings of the example. */
export async function startCluster(
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-balancer-'));
  const redis = await startRedis();
  const running: Program[] = [];
  let balancer: ChildProcess | undefined;
  const close = async () => {
    balancer?.kill('SIGKILL');
    for (const one of running) one.signal('SIGTERM');
    await Promise.all(running.map(({ ended }) => ended));
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let started = 0; started < 3; started += 1) {
      const all = ['serve', '--port', '0', '--json', ...flags];
      running.push(startInProcess(all, { env: { HOME: folder, VOICECTL_SHARED: redis.url, ...env } }));
    }
    const listening = await Promise.all(running.map((one) => one.line(/"type":"listening"/)));
    const urls = listening.map((line) => (JSON.parse(line) as Addresses).baseUrl);
    const front = await startBalancer(folder, urls);
    balancer = front.child;
    return {
      baseUrl: `http://127.0.0.1:${front.port}`,
      wsUrl: `ws://127.0.0.1:${front.port}`,
      emulators: running.map((one, at) => ({ running: one, baseUrl: urls[at] ?? '' })),
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Gives HAProxy a socket that listens already, so that nobody else can have its port. */
async function startBalancer(
  folder: string,
  urls: readonly string[],
): Promise<{ child: ChildProcess; port: number }> {
  const socket = createServer();
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve));
  const { port } = socket.address() as AddressInfo;
  const settings = readFileSync(example, 'utf8')
    .replace('bind :8787', 'bind fd@3')
    // The emulators and those who ask them share one thread: in a busy machine it is late, which is no reason to cut streams.
    .replace('fall 2', 'fall 60')
    .replace('timeout connect 2s', 'timeout connect 60s')
    .replaceAll(/127\.0\.0\.1:880(\d)/g, (_all, number) => new URL(urls[Number(number) - 1] ?? '').host);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, settings);
  const { fd } = (socket as unknown as { _handle: { fd: number } })._handle;
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit', fd] });
  socket.close();
  const ended = once(child, 'exit').then(() => {
    throw new Error('haproxy ended at its start');
  });
  // The answer comes when it is ready.
  await Promise.race([fetch(`http://127.0.0.1:${port}/`), ended]);
  ended.catch(() => {});
  return { child, port };
}
