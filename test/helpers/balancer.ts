import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startRedis } from './redis.ts';
import { program, type Running, watchProcess } from './voicectl.ts';

const example = join(import.meta.dirname, '..', '..', 'examples', 'cluster', 'haproxy.cfg');

export const hasBalancer = spawnSync('haproxy', ['-v']).status === 0;
if (!hasBalancer) {
  console.warn('NOT CHECKED: there is no haproxy (Debian: haproxy); tests of a balancer are skipped');
}

export interface Cluster {
  /** Of the balancer. */
  readonly baseUrl: string;
  readonly wsUrl: string;
  readonly emulators: readonly { running: Running; baseUrl: string }[];
  close(): Promise<void>;
}

/** Starts three emulators of the real program over a Redis of their own, behind HAProxy with the settings of the example. */
export async function startCluster(
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-balancer-'));
  const redis = await startRedis();
  const running: Running[] = [];
  let balancer: ChildProcess | undefined;
  const close = async () => {
    balancer?.kill('SIGKILL');
    for (const one of running) one.signal('SIGTERM');
    await Promise.all(running.map(({ ended }) => ended));
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const ports = [await freePort(), await freePort(), await freePort()];
    for (const port of ports) {
      const all = [program, 'serve', '--port', String(port), '--json', ...flags];
      running.push(
        watchProcess(process.execPath, all, {
          cwd: folder,
          env: { PATH: process.env.PATH, HOME: folder, VOICECTL_SHARED: redis.url, ...env },
        }),
      );
    }
    await Promise.all(running.map((one) => one.line(/"type":"listening"/)));
    const front = await freePort();
    balancer = await startBalancer(folder, front, ports);
    return {
      baseUrl: `http://127.0.0.1:${front}`,
      wsUrl: `ws://127.0.0.1:${front}`,
      emulators: running.map((one, at) => ({ running: one, baseUrl: `http://127.0.0.1:${ports[at]}` })),
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

async function startBalancer(folder: string, front: number, ports: readonly number[]): Promise<ChildProcess> {
  const settings = readFileSync(example, 'utf8')
    .replace('bind :8787', `bind 127.0.0.1:${front}`)
    .replaceAll(/127\.0\.0\.1:880(\d)/g, (_all, number) => `127.0.0.1:${ports[Number(number) - 1]}`);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, settings);
  const balancer = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  let ended = false;
  void once(balancer, 'exit').then(() => {
    ended = true;
  });
  while (!(await listens(front))) {
    if (ended) throw new Error('haproxy ended at its start');
    await sleep(20);
  }
  return balancer;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
