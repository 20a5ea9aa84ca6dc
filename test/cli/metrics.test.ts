import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../helpers/free-port.js';
import { lan } from '../helpers/lan.ts';
import { hasPrometheus, type Prometheus, promtool, startPrometheus } from '../helpers/prometheus.ts';
import { fixturePcm, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const metricsPath = '/__voicectl/metrics';

/** The status of a scrape, and its text. */
function scrape(url: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const asked = request(url, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('a scrape', () => {
  test('is answered for this machine, and refused for pages and for requests that a proxy forwards', async () => {
    const { baseUrl } = await sandbox.serveHere();
    const url = `${baseUrl}${metricsPath}`;
    expect((await scrape(url)).text).toContain('voicectl_build_info{');
    expect((await scrape(url, { Origin: 'https://evil.example' })).status).toBe(403);
    expect((await scrape(url, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
    expect((await scrape(url, { Host: 'evil.example' })).status).toBe(403);
    expect((await scrape(url, { 'X-Forwarded-For': '10.0.0.1' })).status).toBe(401);
    const posted = await fetch(url, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });

  test.each([
    [[], []],
    [['--metrics-devices'], ['kitchen-1']],
  ])('of serve %j names the devices %j', async (flags, names) => {
    const { baseUrl } = await sandbox.serveHere(flags);
    await fetch(`${baseUrl}/api/websocket-voice/token`, {
      ...{ method: 'POST', headers: { 'Content-Type': 'application/json' } },
      body: JSON.stringify({ apiKey: 'a-key', deviceId: 'kitchen-1' }),
    });
    const { text } = await scrape(`${baseUrl}${metricsPath}`);
    const named = [...text.matchAll(/device="([^"]+)"/g)].map(([, name]) => name);
    expect([...new Set(named)]).toEqual(names);
  });

  test.skipIf(lan === undefined)(
    'from the network needs --metrics-allow, which opens nothing else',
    async () => {
      const flags = ['--host', '0.0.0.0', '--accept-key', 'a-key-of-tests'];
      const from = ({ baseUrl }: { baseUrl: string }) => baseUrl.replace(/\/\/[^:]+/, `//${lan}`);
      const closed = from(await sandbox.serveHere(flags));
      // These requests come from an address of this machine: they need the secret.
      expect((await scrape(`${closed}${metricsPath}`)).status).toBe(401);
      const other = from(await sandbox.serveHere([...flags, '--metrics-allow', '203.0.113.0/24']));
      expect((await scrape(`${other}${metricsPath}`)).status).toBe(401);
      const open = from(await sandbox.serveHere([...flags, '--metrics-allow', `${lan}/31`]));
      expect((await scrape(`${open}${metricsPath}`)).status).toBe(200);
      expect((await scrape(`${open}${metricsPath}`, { Host: 'evil.example' })).status).toBe(403);
      expect((await scrape(`${open}${metricsPath}`, { Origin: 'http://evil.example' })).status).toBe(403);
      expect((await scrape(`${open}/__voicectl/state`)).status).toBe(401);
    },
  );

  test('an invalid address is refused at the start', async () => {
    const { code, stderr } = await sandbox.runHere([
      'serve',
      '--port',
      '0',
      '--metrics-allow',
      '10.0.0.0/99',
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/: "10\.0\.0\.0\/99" is neither an address nor a network\n.*--metrics-allow/);
  });

  test('of a load run is answered while the run lasts', async () => {
    const { baseUrl } = await sandbox.serveHere(['--reply', 'silence']);
    const flags = [
      '--sessions',
      '5',
      '--arrival',
      'burst:5',
      '--task',
      'listen',
      '--hold',
      '20s',
      '--processes',
      'none',
      '--metrics',
      '0',
    ];
    const load = await sandbox.startHere(['load', '--base-url', baseUrl, ...flags, '--json']);
    await load.line(/"type":"progress".*"confirmed":5/);
    const url = /Metrics: (\S+)/.exec(load.stderr)?.[1] ?? '';
    const { text } = await scrape(url);
    expect(text).toContain('voicectl_load_sessions_total{outcome="confirmed"} 5');
    expect(text).toContain('voicectl_load_time_seconds_count{metric="connect"} 5');
    if (hasPrometheus) expect(promtool(text)).toBe('');
    expect((await scrape(url, { Origin: 'http://127.0.0.1:1' })).status).toBe(403);
    expect((await scrape(new URL('/', url).href)).status).toBe(404);
    load.signal('SIGINT');
    await load.ended;
    await expect(scrape(url)).rejects.toThrow('ECONNREFUSED');
  });
});

describe.skipIf(!hasPrometheus)('a real Prometheus', () => {
  async function prometheusFor(jobs: Readonly<Record<string, string>>): Promise<Prometheus> {
    const prometheus = await startPrometheus(jobs);
    sandbox.defer(prometheus.stop);
    return prometheus;
  }
  const sum = async (prometheus: Prometheus, expression: string) =>
    (await prometheus.query(`sum(${expression})`))[0]?.value ?? 0;

  test('has the same numbers as the journal, and data for each panel of the dashboard', async () => {
    const serve = await sandbox.serveHere(['--fault', 'duplicate:probability=0.2']);
    const proxy = await sandbox.startHere(['proxy', '--target', serve.baseUrl, '--port', '0', '--json']);
    const listening = JSON.parse(await proxy.line(/"type":"listening"/));
    const loadPort = await freePort();
    const prometheus = await prometheusFor({
      'voicectl-serve': new URL(serve.baseUrl).host,
      'voicectl-proxy': new URL(listening.baseUrl).host,
      'voicectl-load': `127.0.0.1:${loadPort}`,
    });
    const key = ['--api-key', 'a-key-of-tests'];
    await (
      await sandbox.startHere(['stream', '--file', 'hello.wav', '--base-url', listening.baseUrl, ...key])
    ).ended;
    // The bytes of each sample are swapped: a finding.
    const swapped = sandbox.write('swapped.raw', Buffer.from(fixturePcm('hello.wav')).swap16());
    await (await sandbox.startHere(['stream', '--raw', swapped, '--base-url', serve.baseUrl, '--wait', '1s']))
      .ended;
    for (const body of ['{', '{}'])
      await fetch(`${serve.baseUrl}/api/websocket-voice/token`, { method: 'POST', body });
    const flags = [
      '--sessions',
      '6',
      '--arrival',
      'constant:3/s',
      '--hold',
      '60s',
      '--processes',
      'none',
      '--metrics',
      String(loadPort),
    ];
    const load = await sandbox.startHere(['load', '--base-url', serve.baseUrl, ...flags, '--json']);
    await load.line(/"type":"progress".*"replies":[1-9]/);

    // Each panel shows something while all three run.
    const path = join(import.meta.dirname, '..', '..', 'examples', 'metrics', 'grafana-dashboard.json');
    const { panels } = JSON.parse(readFileSync(path, 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    const expressions = panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => [title, expr] as const),
    );
    expect(expressions.length).toBeGreaterThan(15);
    for (const [title, expr] of expressions) {
      const filled = expr.replaceAll('$__rate_interval', '10s').replaceAll('$job', '.*');
      await expect
        .poll(async () => ({ title, series: (await prometheus.query(filled)).length }))
        .toEqual({ title, series: expect.toSatisfy((count: number) => count > 0) });
    }

    load.signal('SIGINT');
    await load.ended;
    const { entries } = await journalOf(serve.baseUrl);
    const count = (type: string) =>
      entries.filter((entry) => entry.type === type).reduce((all, entry) => all + (entry.count ?? 1), 0);
    const job = '{job="voicectl-serve"}';
    const pairs: [expression: string, value: number][] = [
      [`voicectl_requests_total{job="voicectl-serve",outcome="token"}`, count('token-issued')],
      [`voicectl_refusals_total${job}`, count('request-refused')],
      [`voicectl_streams_authorised_total${job}`, count('stream-authorised')],
      [`voicectl_turns_total${job}`, count('turn-ended')],
      [`voicectl_replies_total${job}`, count('reply-started')],
      [`voicectl_faults_struck_total${job}`, count('fault-struck')],
      [
        `voicectl_stream_bytes_total{job="voicectl-serve",direction="from_device"}`,
        entries
          .filter(({ type }) => type === 'stream-closed')
          .reduce((all, { bytesIn = 0 }) => all + bytesIn, 0),
      ],
    ];
    expect(pairs.every(([, value]) => value > 0)).toBe(true);
    for (const [expression, value] of pairs)
      await expect
        .poll(async () => [expression, await sum(prometheus, expression)])
        .toEqual([expression, value]);
    await expect.poll(() => sum(prometheus, `voicectl_streams_open${job}`)).toBe(0);
  });

  /** Everything that the emulator has reported. */
  async function journalOf(baseUrl: string) {
    const answer = await fetch(`${baseUrl}/__voicectl/journal?limit=10000`);
    return { entries: (await answer.json()) as { type: string; count?: number; bytesIn?: number }[] };
  }
});

test('several processes on one port refuse a scrape, and say why', async () => {
  const answer = await refusedScrape();
  expect(answer.status).toBe(501);
  expect(answer.text).toContain('Several processes answer on this port');
});

/** A scrape of an emulator that is one of several processes. */
async function refusedScrape() {
  const { createEmulator } = await import('../../src/emulator/emulator.ts');
  const emulator = await createEmulator({ metrics: { refused: 'Several processes answer on this port' } });
  sandbox.defer(() => emulator.close());
  return scrape(`${emulator.baseUrl}${metricsPath}`);
}
