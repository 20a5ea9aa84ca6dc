import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** Writes bytes to the connection of a WebSocket, past its framing. */
export function writeRaw(socket: WebSocket, bytes: Buffer): void {
  (socket as unknown as { _socket: Socket })._socket.write(bytes);
}
