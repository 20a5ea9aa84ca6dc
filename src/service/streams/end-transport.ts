import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../../kernel/clock.ts';

/** A peer that has not read everything by then is cut anyway. */
const flushMs = 2_000;

/** Ends a connection without a close frame, after everything that was sent on it. */
export function endTransport(socket: WebSocket, transport: Socket, clock: Clock): void {
  const cut = clock.after(flushMs, () => socket.terminate(), { background: true });
  socket.once('close', cut.cancel);
  transport.destroySoon();
}
