import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, MovableClock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { newSecret } from '../kernel/new-secret.ts';
import { version } from '../kernel/version.ts';
import { type Addresses, addressesOf } from '../wire/addresses.ts';
import type { TlsCertificate } from '../wire/server/certificate.ts';
import type { ControlApi, ControlApiOptions } from './control/control-api.ts';
import type { CreatePage, ObserveStream } from './control/page-handler.ts';
import type { EmulatorEvents } from './events.ts';
import type { Faults } from './faults/faults.ts';
import { createNetworkFaults } from './faults/network-faults.ts';
import { createUpgradeFaults, type UpgradeFaults } from './faults/upgrade-faults.ts';
import { createServiceMetrics, type MetricsEndpoint, type ScrapeOptions } from './metrics/service-metrics.ts';
import type { OpenTotals } from './metrics/service-tally.ts';
import type { Random } from './random.ts';

/** A service that listens. */
export interface OpenService extends Addresses {
  readonly port: number;
  /** Addresses for other machines, if it listens on all interfaces. */
  readonly lan: readonly Addresses[];
  /** With TLS: the certificate that devices have to trust, as PEM. */
  readonly certificate: string | undefined;
  /** Stops accepting, closes each stream with 1001, and resolves when all have ended. A second call waits for the first. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface OpenServiceOptions extends Pick<ControlApiOptions, 'control' | 'trustsThisMachine'> {
  host: string;
  port: number;
  tls: TlsCertificate | undefined;
  events: EmulatorEvents;
  /** Of these, the server applies the faults of upgrades and of the network. */
  faults: Faults;
  random: Random;
  /** The clock of the service, which can be moved forward. */
  clock: MovableClock;
  /** The clock of the machine. */
  baseClock: Clock;
  /** Bearer secret of the control API; if it can change, as it is now. Default: a new one. */
  secret: string | undefined | (() => string);
  page: CreatePage | undefined;
  /** The name of this emulator, if several are one service. */
  instance?: () => string;
  observe: (createTap: ObserveStream) => () => void;
  /** Removes the keys that are known from a text. */
  redact: (text: string) => string;
  metrics: ScrapeOptions | undefined;
  /** The command that runs it, for its metrics: `serve`. */
  command: string;
  /** The streams of this process that are open. */
  open(): readonly OpenTotals[];
  createServer(
    parts: { control: ControlApi; faults: UpgradeFaults; hasPage: boolean } & Pick<
      MetricsEndpoint,
      'isScraper'
    >,
  ): Server;
  /** Ends all streams; requests are still answered. */
  endStreams(): Promise<void>;
  /** Called when no connection is open any more. */
  leave?(): Promise<void>;
}

/**
 * Opens a service, emulated or relayed: its control API, its page, its port. Reports the addresses, and closes in order. Throws
 * `usage` and `port-in-use`, after it has ended what was open.
 */
export async function openService(options: OpenServiceOptions): Promise<OpenService> {
  const { events, faults, clock, baseClock, random, tls } = options;
  const metrics = createServiceMetrics(options.metrics ?? {}, {
    ...{ events, clock: baseClock, command: options.command, open: options.open },
    instance: options.instance,
  });
  const page = openPage(options);
  const upgradeFaults = createUpgradeFaults(faults, clock);
  const network = createNetworkFaults(faults, { clock: baseClock, random });
  const { secret: given = newSecret(), control, trustsThisMachine } = options;
  const server = options.createServer({
    control: loadControlApi({
      control,
      secret: typeof given === 'function' ? given : () => given,
      page,
      metrics,
      trustsThisMachine,
      isSecure: tls !== undefined,
    }),
    faults: upgradeFaults,
    hasPage: page !== undefined,
    isScraper: metrics.isScraper,
  });
  network.attach(server);
  const endStreams = async () => {
    await options.endStreams();
    await page?.close();
    metrics.close();
    upgradeFaults.close();
  };
  try {
    const address = await listenOn(server, options.host, options.port);
    const { baseUrl, wsUrl, lan } = addressesOf(address, tls === undefined ? 'http' : 'https');
    events.emit({ type: 'listening', version, baseUrl, wsUrl, ...(lan.length === 0 ? {} : { lan }) });
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= (async () => {
        events.emit({ type: 'stopping' });
        const stopped = new Promise((resolve) => server.close(resolve));
        await endStreams();
        server.closeAllConnections();
        network.close();
        await stopped;
        await options.leave?.();
      })();
      return closed;
    };
    return {
      ...{ baseUrl, wsUrl, lan, close, [Symbol.asyncDispose]: close },
      port: address.port,
      certificate: tls?.cert,
    };
  } catch (thrown) {
    await endStreams();
    await closeServer(server);
    network.close();
    await options.leave?.();
    throw thrown;
  }
}

function openPage({ page, control, baseClock, events, observe, redact, instance }: OpenServiceOptions) {
  const startedAt = baseClock.now();
  return page?.({
    ...{ control, observe, redact },
    clock: baseClock,
    subscribe: events.subscribe,
    elapsedMs: () => baseClock.now() - startedAt,
    ...(instance === undefined ? {} : { instance }),
  });
}

/** The control API, loaded for its first request: most services never get one. */
function loadControlApi(options: ControlApiOptions): ControlApi {
  return async (request, response) => {
    const { createControlApi } = await import('./control/control-api.ts');
    return createControlApi(options)(request, response);
  };
}

/** Listens on an address. Throws `port-in-use`, and `usage` for an address that is not this machine's. */
export async function listenOn(server: Server, host: string, port: number): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)));
    server.listen({ host, port }, resolve);
  });
  // An accept fails when descriptors run out. Open connections continue.
  server.on('error', () => {});
  return server.address() as AddressInfo;
}

/** Closes a server, and cuts its connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): VoicectlError {
  if (cause.code === 'EADDRINUSE') {
    return new VoicectlError('port-in-use', `Port ${port} on ${host} is taken`, {
      hint: 'Choose another port, or let the system choose one: --port 0, or port: 0 of the library.',
      cause,
    });
  }
  return new VoicectlError('usage', `Cannot listen on ${host}:${port}: ${cause.message}`, { cause });
}
