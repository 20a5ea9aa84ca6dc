import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import type { StreamTotals } from '../../service/events.ts';
import type { AudioOut } from './audio-out.ts';
import type { Ending } from './ending.ts';

/** Checks whether the peer still answers, and applies the faults `stall` and `half-open`. Methods as in `Connection`. */
export interface Liveness {
  probe(): void;
  stall(ms: number): void;
  freeze(): void;
}

export interface LivenessOptions {
  socket: WebSocket;
  transport: Socket;
  /** The clock of the service, which can be moved forward. */
  clock: Clock;
  totals: StreamTotals;
  audio: AudioOut;
  ending: Ending;
  /** Called when a ping was sent. */
  onPing: () => void;
}

export function createLiveness(options: LivenessOptions): Liveness {
  const { socket, transport, clock, totals, audio, ending } = options;
  let pingPending = false;
  let frozen = false;
  let stalls = 0;
  socket.on('pong', () => {
    pingPending = false;
  });
  return {
    probe() {
      if (frozen || stalls > 0) return;
      if (pingPending) {
        totals.cause ??= 'half-open';
        ending.begin();
        socket.terminate();
        return;
      }
      pingPending = true;
      socket.ping();
      options.onPing();
    },
    stall(ms) {
      stalls += 1;
      transport.cork();
      const timer = clock.after(ms, () => {
        stalls -= 1;
        transport.uncork();
      });
      ending.onEnding(() => {
        timer.cancel();
        transport.uncork();
      });
    },
    freeze() {
      frozen = true;
      audio.shut();
      // Discard incoming data, so that the end of the peer is still noticed.
      transport.removeAllListeners('data').resume();
    },
  };
}
