import { WebSocket } from 'ws';
import { type Clock, repeat } from '../../kernel/clock.ts';

const pingEveryMs = 15_000;

export interface Heartbeat {
  /** Call it when the peer has shown, or may have shown, that it is alive. */
  beat(): void;
  stop(): void;
}

export interface HeartbeatOptions {
  clock: Clock;
  ping(): void;
  onDead(): void;
}

/** Pings the peer every 15 s, and calls `onDead` if nothing arrived from it between two pings. */
export function startHeartbeat(socket: WebSocket, { clock, ping, onDead }: HeartbeatOptions): Heartbeat {
  let isAlive = true;
  const beat = () => {
    isAlive = true;
  };
  for (const event of ['pong', 'ping', 'message']) socket.on(event, beat);
  const timer = repeat(clock, pingEveryMs, () => {
    // While reading is paused, no answer can arrive.
    if (!isAlive && !socket.isPaused) {
      timer.cancel();
      onDead();
      return;
    }
    isAlive = false;
    if (socket.readyState === WebSocket.OPEN) ping();
  });
  return { beat, stop: () => timer.cancel() };
}
