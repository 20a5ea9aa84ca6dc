import type { IncomingMessage, ServerResponse } from 'node:http';
import { loadMetricNames } from '../../config/threshold.ts';
import { metricsPath } from '../../protocol/control-paths.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import { plainRefusals } from '../../service/http/refusal.ts';
import { createBareServer, loopbackOnly } from '../../service/http/service-server.ts';
import {
  createTimeClasses,
  gauge,
  type MetricFamily,
  type MetricSample,
} from '../../service/metrics/family.ts';
import type { MetricsEndpoint } from '../../service/metrics/service-metrics.ts';
import { closeServer, listenOn } from '../../service/open-service.ts';
import { plainAddress } from '../../wire/addresses.ts';
import { admitRequest } from '../../wire/server/admission.ts';
import { readTarget } from '../../wire/server/http-request.ts';
import type { Times } from './histogram.ts';
import type { LoadProgress } from './run-load.ts';

/** The metrics of a run so far, from what all its generators have reported. */
export function loadFamilies(progress: LoadProgress | undefined): MetricFamily[] {
  if (progress === undefined) return [];
  const { totals, second, core } = progress;
  const { counts, failures, metrics, lateness, series } = totals;
  const counter = (name: string, help: string, samples: readonly MetricSample[]): MetricFamily => ({
    ...{ name, help, type: 'counter', samples },
  });
  const by = (label: string, values: readonly (readonly [name: string, value: number])[]) =>
    values.map(([name, value]): MetricSample => ({ labels: { [label]: name }, value }));
  const { arrived, confirmed, done, failed, stopped, dropped } = counts;
  const { turns, replies, framesOut, framesHeld, framesMissed, messagesIn, bytesIn } = counts;
  return [
    counter(
      'voicectl_load_sessions',
      'Sessions that reached this state or ended in it; a session counts in each state that it reached',
      by('outcome', Object.entries({ arrived, confirmed, done, failed, stopped, dropped })),
    ),
    counter('voicectl_load_failures', 'Sessions that failed, by kind', by('kind', Object.entries(failures))),
    gauge('voicectl_streams_open', 'Streams that are open', series.at(second).open),
    counter('voicectl_turns', 'Turns that were spoken', [{ labels: {}, value: turns }]),
    counter('voicectl_replies', 'Replies that have begun', [{ labels: {}, value: replies }]),
    counter(
      'voicectl_load_frames',
      'Frames of audio: sent, held back because the service did not read, or missed by this machine',
      by('outcome', Object.entries({ sent: framesOut, held: framesHeld, missed: framesMissed })),
    ),
    counter('voicectl_load_messages_received', 'Messages of AI audio', [{ labels: {}, value: messagesIn }]),
    counter('voicectl_load_received_bytes', 'AI audio, in bytes', [{ labels: {}, value: bytesIn }]),
    {
      name: 'voicectl_load_time_seconds',
      help: 'Times of the run, by metric; for unfinished steps, the time that had passed',
      type: 'histogram',
      samples: loadMetricNames.flatMap((metric) => {
        const times = metrics.get(metric);
        return times === undefined ? [] : samplesOf([times.finished, times.unfinished], { metric });
      }),
    },
    {
      name: 'voicectl_load_lateness_seconds',
      help: 'How late frames were sent and sessions started',
      type: 'histogram',
      samples: samplesOf([lateness]),
    },
    ...(core === undefined
      ? []
      : [
          gauge(
            'voicectl_load_core_ratio',
            'Share of a core that the busiest generator used in the last second',
            core,
          ),
        ]),
  ];
}

function samplesOf(all: readonly Times[], labels: MetricSample['labels'] = {}): MetricSample[] {
  const classes = createTimeClasses();
  for (const times of all) for (const [us, count] of times.values()) classes.add(us / 1000, count);
  return classes.samples(labels);
}

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
  const address = await listenOn(server, isOpen ? '0.0.0.0' : '127.0.0.1', port);
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
  const admission = admitRequest(request, target, {
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
