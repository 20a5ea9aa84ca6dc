import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterAll } from 'vitest';
import { freePort } from './free-port.js';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis) {
  console.warn(
    'NOT CHECKED: there is no redis-server (Debian: redis-server); tests of shared state are skipped',
  );
}

/** One that knows TLS stumbles over the second setting only. */
export const hasRedisTls =
  hasRedis &&
  spawnSync('redis-server', ['--tls-port', '0', '--no-such-setting', '1']).output.join().includes('no-such');
if (hasRedis && !hasRedisTls) {
  console.warn('NOT CHECKED: this redis-server knows no TLS; the tests of rediss:// are skipped');
}

export interface Redis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends at once, with all that it knows unless `args` had it write a file; then begins again. */
  restart(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** What `redis-cli` prints. */
  cli(...args: string[]): string;
  stop(): Promise<void>;
}

/** Paths of PEM files. */
export interface TlsFiles {
  cert: string;
  key: string;
}

/** Starts a Redis of its own on a free port, which takes TLS only if it has a certificate. It keeps everything in memory. */
export async function startRedis(args: readonly string[] = [], tls?: TlsFiles): Promise<Redis> {
  const port = await freePort();
  const listening =
    tls === undefined
      ? ['--port', String(port)]
      : [
          ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no'],
          ...['--tls-cert-file', tls.cert, '--tls-key-file', tls.key],
        ];
  const all = [...listening, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...args];
  let child: ChildProcess;
  const start = async () => {
    child = spawn('redis-server', all, { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on('data', (text) => {
        said += text;
        if (said.includes('Ready to accept connections')) resolve();
      });
      child.once('exit', () => reject(new Error(`redis-server ended: ${said}`)));
    });
  };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    port,
    url: `${tls === undefined ? 'redis' : 'rediss'}://127.0.0.1:${port}`,
    get pid() {
      return child.pid ?? 0;
    },
    async restart() {
      await stop();
      await start();
    },
    signal: (name) => void child.kill(name),
    cli(...command) {
      const trust = tls === undefined ? [] : ['--tls', '--cacert', tls.cert];
      return spawnSync('redis-cli', ['-p', String(port), ...trust, ...command]).stdout.toString();
    },
    stop,
  };
}

/** One Redis for the tests of a file. */
export function setUpRedis(args: readonly string[] = []): () => Promise<Redis> {
  let starting: Promise<Redis> | undefined;
  afterAll(async () => (await starting)?.stop());
  return () => {
    starting ??= startRedis(args);
    return starting;
  };
}
