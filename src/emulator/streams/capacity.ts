import type { Dialect, RefusalCause } from '../../protocol/dialect.ts';
import type { StreamConnection } from './connection.ts';

/** Most connections without a token yet, of all devices together. */
const maxAwaitingToken = 1_024;

/** Limits the number of connections: as the dialect says, and to protect the emulator. */
export interface Capacity {
  /** The reason to refuse one more connection from this address. */
  refuseUpgrade(address: string): RefusalCause | undefined;
  /** Whether all of the places for streams with a token are taken. */
  isFull(): boolean;
  /** Counts a connection without a token, until the result is called or the connection ends. */
  awaitToken(connection: StreamConnection): () => void;
}

export interface CapacityOptions {
  connections: ReadonlySet<StreamConnection>;
  settings: Dialect['stream'];
  /** Connections per device. */
  maxConnections: number;
}

export function createCapacity({ connections, settings, maxConnections }: CapacityOptions): Capacity {
  const { capacity, connectionLimit } = settings;
  let awaitingToken = 0;
  const count = (is: (connection: StreamConnection) => boolean) =>
    [...connections].filter((connection) => !connection.ended && is(connection)).length;
  const holds = (counts: (connection: StreamConnection) => boolean) =>
    capacity.connections !== undefined && count(counts) >= capacity.connections;
  return {
    refuseUpgrade(address) {
      if (awaitingToken >= maxAwaitingToken) return 'unavailable';
      if (capacity.refuseAt === 'upgrade' && holds(() => true)) return 'unavailable';
      const isOver = () => count(({ remote }) => remote === address) >= maxConnections;
      return connectionLimit === 'refuse-upgrade' && isOver() ? 'tooManyConnections' : undefined;
    },
    isFull: () => holds(({ totals }) => totals.device !== undefined),
    awaitToken(connection) {
      awaitingToken += 1;
      let awaiting = true;
      const settle = () => {
        if (awaiting) awaitingToken -= 1;
        awaiting = false;
      };
      connection.onEnding(settle);
      return settle;
    },
  };
}
