import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';

export const hasPrometheus = ['prometheus', 'promtool'].every(
  (name) => spawnSync(name, ['--version']).status === 0,
);
if (!hasPrometheus)
  console.warn(
    'NOT CHECKED: there is no prometheus with promtool (Debian: prometheus); metrics are not scraped by it',
  );

/** What promtool finds in some metrics; nothing, if all is well. */
export function promtool(metrics: string): string {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: metrics,
    encoding: 'utf8',
  });
  return status === 0 ? `${stdout}${stderr}` : `status ${status}: ${stdout}${stderr}`;
}

export interface Series {
  metric: Record<string, string>;
  value: number;
}

export interface Prometheus {
  /** The series that an expression has now. */
  query(expression: string): Promise<Series[]>;
  stop(): Promise<void>;
}

/** Starts a Prometheus that scrapes these jobs four times a second; each is at an address such as `127.0.0.1:8787`. */
export async function startPrometheus(jobs: Readonly<Record<string, string>>): Promise<Prometheus> {
  const dir = mkdtempSync(join(tmpdir(), 'voicectl-prometheus-'));
  const configs = Object.entries(jobs).map(([job_name, target]) => ({
    ...{ job_name, metrics_path: '/__voicectl/metrics', scrape_interval: '250ms', scrape_timeout: '250ms' },
    static_configs: [{ targets: [target] }],
  }));
  // JSON is YAML.
  writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify({ scrape_configs: configs }));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(child, 'exit');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text) => {
      said += text;
      if (said.includes('Server is ready')) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`prometheus ended: ${said}`)));
  });
  return {
    async query(expression) {
      const answer = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const { status, data, error } = (await answer.json()) as {
        status: string;
        data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
        error?: string;
      };
      if (status !== 'success' || data === undefined) throw new Error(`${expression}: ${error}`);
      return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
