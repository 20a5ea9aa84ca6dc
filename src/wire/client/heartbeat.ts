import { WebSocket } from 'ws';
import type { Clock } from '../../kernel/clock.ts';

const pingEveryMs = 15_000;

export interface Heartbeat {
  /** The peer has given, or may have given, a sign of life. */
  beat(): void;
  stop(): void;
}

export interface HeartbeatOptions {
  clock: Clock;
  ping(): void;
  onDead(): void;
}

/** Pings the peer every 15 s, and calls `onDead` when nothing at all came from it between two pings. */
export function startHeartbeat(socket: WebSocket, { clock, ping, onDead }: HeartbeatOptions): Heartbeat {
  let isAlive = true;
  const beat = () => {
    isAlive = true;
  };
  for (const event of ['pong', 'ping', 'message']) socket.on(event, beat);
  const look = () => {
    // While we do not read ourselves, no answer can be seen.
    if (!isAlive && !socket.isPaused) {
      onDead();
      return;
    }
    isAlive = false;
    if (socket.readyState === WebSocket.OPEN) ping();
    timer = clock.after(pingEveryMs, look, { background: true });
  };
  let timer = clock.after(pingEveryMs, look, { background: true });
  return { beat, stop: () => timer.cancel() };
}
