import type { Clock } from '../../kernel/clock.ts';
import type { ObserveStream } from '../../service/control/page-handler.ts';
import type { StreamConnection } from './connection.ts';
import { tapStream, type Upgraded } from './tap-stream.ts';

/** Observers that come and go while streams are open. Without one, no stream has a tap. */
export interface Observers {
  readonly any: boolean;
  opened(connection: StreamConnection, upgraded: Upgraded): void;
  /** Gives a tap to each open stream, and to those that open until the result is called. */
  add(createTap: ObserveStream): () => void;
}

/**
 * `open`: the open connections. A tap that is added to an open stream does not see its upgrade. `clock`: the machine's, as
 * audio is heard when it arrives.
 */
export function createObservers(open: ReadonlySet<StreamConnection>, clock: Clock): Observers {
  const all = new Set<(connection: StreamConnection, upgraded?: Upgraded) => void>();
  return {
    get any() {
      return all.size > 0;
    },
    opened(connection, upgraded) {
      for (const observe of all) observe(connection, upgraded);
    },
    add(createTap) {
      const stops = new Map<StreamConnection, () => void>();
      const observe = (connection: StreamConnection, upgraded?: Upgraded) => {
        const { id, socket, totals } = connection;
        const tap = createTap(id, upgraded === undefined ? connection.durationMs() : 0);
        if (tap === undefined) return;
        const presented = totals.device !== undefined;
        stops.set(
          connection,
          connection.observe((isOurEnd) => tapStream({ upgraded, tap, socket, clock, isOurEnd, presented })),
        );
        connection.socket.once('close', () => stops.delete(connection));
      };
      for (const connection of open) observe(connection);
      all.add(observe);
      return () => {
        all.delete(observe);
        for (const stop of stops.values()) stop();
      };
    },
  };
}
