import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { controlPrefix } from '../../protocol/control-paths.ts';
import { type FaultAt, strikesAt } from '../../protocol/faults.ts';
import { type NetworkQuality, networkProfiles, networkQuality } from '../../protocol/network.ts';
import { type InFlightTotals, Line } from '../../wire/server/network/line.ts';
import type { Random } from '../random.ts';
import type { Faults } from './faults.ts';

/** Simulates the network of the active faults under the connections of devices. */
export interface NetworkFaults {
  /** Lets the connections of a server go through it. Call it before the server listens. */
  attach(server: Server): void;
  /** Ends the connections that go through it. */
  close(): void;
}

const controlRequest = new RegExp(`^[A-Z]+ (?:https?://[^/ ]+)?${controlPrefix}[/? ]`);

/** Whether a connection begins with a request for the control API: requests that set the network do not go through it. */
function isForControl(first: Buffer): boolean {
  return controlRequest.test(first.toString('latin1', 0, 512));
}

/** `clock`: the clock of the machine, because moving the clock of the service does not change the pace of audio. */
export function createNetworkFaults(
  faults: Faults,
  { clock, random }: { clock: Clock; random: Random },
): NetworkFaults {
  const lines = new Set<Line>();
  /** The faults that have struck each connection of a device. */
  const devices = new Map<Line, FaultAt<'connection'>[]>();
  const inFlight: InFlightTotals = { bytes: 0, ended: new Set() };
  let connections = 0;

  /** If there are several, the newest one that is still active. */
  const qualityOf = (struck: readonly FaultAt<'connection'>[]): NetworkQuality => {
    const active = struck.findLast((fault) => faults.list().some((entry) => entry.fault === fault));
    return active === undefined ? networkProfiles.none : networkQuality(active);
  };
  const enter = (socket: Socket): Socket => {
    connections += 1;
    if (!faults.list().some(({ fault }) => strikesAt(fault, 'connection'))) return socket;
    const struck: FaultAt<'connection'>[] = [];
    const [upload, download] = ['up', 'down'].map((way) =>
      random.sequence(`connection ${connections} ${way}`),
    );
    const line = new Line(socket, {
      clock,
      quality: () => qualityOf(struck),
      onFirst(bytes) {
        if (isForControl(bytes)) return;
        struck.push(...faults.strike('connection', {}));
        devices.set(line, struck);
      },
      chances: { upload: upload as () => number, download: download as () => number },
      roundTrips: 'encrypted' in socket ? 2 : 1,
      inFlight,
    });
    lines.add(line);
    socket.once('close', () => {
      lines.delete(line);
      devices.delete(line);
    });
    return line as unknown as Socket;
  };
  const stops = [
    faults.onAdded((strike) => {
      for (const [line, struck] of devices) {
        struck.push(...strike('connection', {}));
        line.changed();
      }
    }),
    faults.onCleared(() => {
      for (const line of devices.keys()) line.changed();
    }),
  ];

  return {
    attach(server) {
      // A server with TLS passes a connection to HTTP after the handshake.
      const event = server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection';
      const [serve] = server.rawListeners(event);
      if (serve === undefined) return;
      server.off(event, serve as () => void);
      server.prependListener(event, (socket: Socket) => Reflect.apply(serve, server, [enter(socket)]));
    },
    close() {
      for (const stop of stops) stop();
      for (const line of lines) line.cut();
    },
  };
}
