import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { watchLateness } from '../../kernel/lateness.ts';
import { version } from '../../kernel/version.ts';
import { plainAddress } from '../../wire/addresses.ts';
import { uncachedHeaders } from '../../wire/server/http-answer.ts';
import type { EmulatorEvents } from '../events.ts';
import { createTimeClasses, gauge, type MetricFamily } from './family.ts';
import { createServiceTally, type OpenTotals } from './service-tally.ts';

/** Who may scrape, and what it gets. */
export interface ScrapeOptions {
  /** Addresses, or networks such as 10.0.0.0/8, that may scrape without the control secret. Default: none but this machine. */
  allow?: readonly string[] | undefined;
  /** Whether the metrics name devices. Default false. */
  devices?: boolean | undefined;
  /** Why this process alone cannot answer a scrape. */
  refused?: string | undefined;
}

/** The metrics of a service, or of a run of load. */
export interface MetricsEndpoint {
  /** Whether this client may scrape although it is not on this machine. */
  isScraper(request: IncomingMessage): boolean;
  /** Answers a scrape. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Why no scrape is answered. */
  readonly refused: string | undefined;
  close(): void;
}

interface ServiceMetricsOptions {
  events: Pick<EmulatorEvents, 'subscribe'>;
  clock: Clock;
  /** The command that runs, such as `serve`. */
  command: string;
  /** The name of this emulator, if several are one service. */
  instance: (() => string) | undefined;
  /** The streams of this process that are open. */
  open(): readonly OpenTotals[];
}

/** The metrics of an emulator or a proxy. Throws `usage` for an invalid address. */
export function createServiceMetrics(
  { allow = [], devices = false, refused }: ScrapeOptions,
  { events, clock, command, instance, open }: ServiceMetricsOptions,
): MetricsEndpoint {
  const tally = createServiceTally(events, { byDevice: devices, clock });
  return createMetricsEndpoint({
    allow,
    refused,
    clock,
    command,
    instance,
    families: () => tally.families(open()),
  });
}

interface AnyMetricsOptions extends Pick<ServiceMetricsOptions, 'clock' | 'command'> {
  allow: readonly string[];
  refused?: string | undefined;
  instance?: (() => string) | undefined;
  families(): readonly MetricFamily[];
}

/** Metrics of anything. The writer is loaded for the first scrape. Throws `usage` for an invalid address. */
export function createMetricsEndpoint(options: AnyMetricsOptions): MetricsEndpoint {
  const { allow, refused, clock, command, instance, families } = options;
  const allowed = allow.length === 0 ? undefined : listOf(allow);
  let own: OwnMetrics | undefined;
  let isClosed = false;
  return {
    refused,
    isScraper({ socket }) {
      const address = plainAddress(socket.remoteAddress);
      return allowed?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') === true;
    },
    async answer(request, response) {
      const { writeMetrics } = await import('./write-metrics.ts');
      own ??= watchSelf(clock, command, instance);
      // Closed while the first scrape was under way: nobody would end the watch.
      if (isClosed) own.close();
      const all = [...own.families(), ...families()];
      const { contentType, text } = await writeMetrics(all, request.headers.accept ?? '');
      response.writeHead(200, {
        'Content-Type': contentType,
        ...uncachedHeaders,
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    },
    close() {
      isClosed = true;
      own?.close();
    },
  };
}

/** The metrics of the process itself. */
interface OwnMetrics {
  families(): MetricFamily[];
  close(): void;
}

/**
 * Memory, CPU time and lateness of this process. Lateness is measured from the first scrape on. `emulator`:
 * the name of this emulator, if several are one service.
 */
function watchSelf(clock: Clock, command: string, emulator?: () => string): OwnMetrics {
  const late = createTimeClasses();
  const watch = watchLateness(clock, (ms) => late.add(ms));
  return {
    families() {
      const { user, system } = process.cpuUsage();
      const named = emulator === undefined ? {} : { emulator: emulator() };
      return [
        {
          name: 'voicectl_build_info',
          help: 'Version and command; if several emulators are one service, also the emulator that answers: the other metrics are its own',
          type: 'gauge',
          samples: [{ labels: { version, command, ...named }, value: 1 }],
        },
        {
          name: 'voicectl_lateness_seconds',
          help: 'How late this process runs, measured every 50 ms since the first scrape',
          type: 'histogram',
          samples: late.samples(),
        },
        {
          name: 'process_cpu_seconds',
          help: 'CPU time of this process',
          type: 'counter',
          samples: [{ labels: {}, value: (user + system) / 1e6 }],
        },
        gauge('process_resident_memory_bytes', 'Memory of this process', process.memoryUsage.rss()),
        gauge(
          'process_start_time_seconds',
          'Start time of this process, in seconds since the epoch',
          performance.timeOrigin / 1000,
        ),
      ];
    },
    close: () => watch.stop(),
  };
}

function listOf(allow: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of allow) {
    const [address = '', bits, ...more] = text.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    const isBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
    if (isIP(address) === 0 || !isBits || more.length > 0)
      throw new VoicectlError(
        'usage',
        `metrics: ${JSON.stringify(text)} is neither an address nor a network`,
        {
          hint: 'Allow (--metrics-allow, or metrics.allow of the library) for example 192.168.1.7 or 192.168.1.0/24.',
        },
      );
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
