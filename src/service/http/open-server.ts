import type { Server } from 'node:http';
import { version } from '../../kernel/version.ts';
import { type Addresses, addressesOf } from '../../wire/server/addresses.ts';
import type { EmulatorEvents } from '../events.ts';
import type { Faults } from '../faults/faults.ts';
import { createNetworkFaults } from '../faults/network-faults.ts';
import { listen } from './listen.ts';

/** A server that listens. */
export interface OpenServer extends Addresses {
  readonly port: number;
  /** Addresses for other machines, if it listens on all interfaces. */
  readonly lan: readonly Addresses[];
  /** With TLS: the certificate that devices have to trust, as PEM. */
  readonly certificate: string | undefined;
  /** Ends the streams, then everything else. A second call waits for the first. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface OpenServerOptions {
  server: Server;
  host: string;
  port: number;
  tls: { cert: string } | undefined;
  events: Pick<EmulatorEvents, 'emit'>;
  /** Of these, the server applies the faults of the network. */
  faults: Faults;
  network: Parameters<typeof createNetworkFaults>[1];
  /** Ends all streams; requests are still answered. */
  endStreams: () => Promise<void>;
  /** Called when no connection is open any more. */
  leave: () => Promise<void>;
}

/** Listens, reports the addresses, and closes in order. Throws `usage` and `port-in-use`. */
export async function openServer(options: OpenServerOptions): Promise<OpenServer> {
  const { server, host, port, tls, events } = options;
  const network = createNetworkFaults(options.faults, options.network);
  network.stretch(server);
  const address = await listen(server, host, port);
  const { baseUrl, wsUrl, lan } = addressesOf(address, tls === undefined ? 'http' : 'https');
  events.emit({ type: 'listening', version, baseUrl, wsUrl, ...(lan.length === 0 ? {} : { lan }) });

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (async () => {
      events.emit({ type: 'stopping' });
      const stopped = new Promise((resolve) => server.close(resolve));
      await options.endStreams();
      server.closeAllConnections();
      network.close();
      await stopped;
      await options.leave();
    })();
    return closed;
  };
  return {
    ...{ baseUrl, wsUrl, lan, close, [Symbol.asyncDispose]: close },
    port: address.port,
    certificate: tls?.cert,
  };
}
