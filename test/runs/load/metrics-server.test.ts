import { afterEach, describe, expect, test } from 'vitest';
import { type MetricsServer, openMetricsServer } from '../../../src/runs/load/metrics-server.ts';
import { createMetricsEndpoint } from '../../../src/service/metrics/service-metrics.ts';
import { lan } from '../../helpers/lan.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { httpRequest, rawHttp } from '../../helpers/raw-http.ts';

const servers: MetricsServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

/** Scrapes, from an address of the network, a server that these addresses may scrape. */
async function scrape(allow: readonly string[], host = lan) {
  const metrics = createMetricsEndpoint({
    ...{ allow, clock: createManualClock(), command: 'load' },
    families: () => [],
  });
  const server = await openMetricsServer(metrics, { port: 0, isOpen: allow.length > 0 });
  servers.push(server);
  const { port, pathname } = new URL(server.url);
  const request = httpRequest([
    `GET ${pathname} HTTP/1.1`,
    `Host: ${host}:${port}`,
    ...['Connection: close'],
  ]);
  return rawHttp(Number(port), request, { host: lan });
}

describe.skipIf(lan === undefined)('the metrics of a load run', () => {
  test('cannot be reached from the network by default', async () => {
    await expect(scrape([])).rejects.toThrow('ECONNREFUSED');
  });

  test('are answered to the addresses of --metrics-allow', async () => {
    expect(await scrape([`${lan}/32`])).toMatchObject({
      status: 200,
      body: expect.stringContaining('voicectl_build_info'),
    });
  });

  test('are refused to other addresses, by whatever name they ask', async () => {
    for (const host of [lan, '127.0.0.1', 'localhost'])
      expect((await scrape(['203.0.113.0/24'], host)).status).toBe(403);
  });
});
