import type { IncomingMessage, ServerResponse } from 'node:http';
import { metricsPath } from '../../protocol/control-paths.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import { plainRefusals } from '../../service/http/refusal.ts';
import { createBareServer, loopbackOnly } from '../../service/http/service-server.ts';
import type { MetricsEndpoint } from '../../service/metrics/service-metrics.ts';
import { closeServer, listen } from '../../service/open-service.ts';
import { plainAddress } from '../../wire/addresses.ts';
import { admit } from '../../wire/server/admission.ts';
import { readTarget } from '../../wire/server/http-request.ts';

/** A server that answers scrapes and nothing else. */
export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves metrics on a port of their own. `isOpen`: listens on all interfaces, for other machines that may scrape. Refuses
 * requests from web pages, like the control API. Throws `port-in-use`.
 */
export async function openMetricsServer(
  metrics: MetricsEndpoint,
  { port, isOpen }: { port: number; isOpen: boolean },
): Promise<MetricsServer> {
  const server = createBareServer();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response, metrics).catch(() => response.destroy());
  });
  server.on('clientError', (_error, socket) => void socket.destroy());
  const address = await listen(server, isOpen ? '0.0.0.0' : '127.0.0.1', port);
  return {
    url: `http://127.0.0.1:${address.port}${metricsPath}`,
    async close() {
      metrics.close();
      await closeServer(server);
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  metrics: MetricsEndpoint,
): Promise<void> {
  const target = readTarget(request.url ?? '');
  const isScraper = metrics.isScraper(request);
  const admission = admit(request, target, {
    ...loopbackOnly,
    ...(isScraper && { boundAddresses: true, hostAdvice: 'use the IP address of this machine' }),
  });
  const peer = plainAddress(request.socket.remoteAddress);
  const { refuse, turnDown, wrongMethod } = plainRefusals(response);
  if (!admission.ok) return turnDown(admission);
  if (!isScraper && !isLoopbackHost(peer))
    return refuse(
      403,
      'FORBIDDEN',
      'This address may not scrape the metrics: --metrics-allow ADDRESS allows it',
    );
  if (request.headers.origin !== undefined || (request.headers['sec-fetch-site'] ?? 'none') !== 'none')
    return refuse(403, 'FORBIDDEN', 'A web page may not read the metrics');
  if (target?.path !== metricsPath) return refuse(404, 'NOT_FOUND', `The metrics are at ${metricsPath}`);
  if (request.method !== 'GET') return wrongMethod();
  await metrics.answer(request, response);
}
