import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Sandbox } from './voicectl.ts';

/** Many messages in one piece: to send them takes this process no time, which its reader needs. */
const flood = Buffer.from('\x81\x26{"type":"status","status":"listening"}'.repeat(2_000), 'latin1');

/** A service that sends status messages as fast as they are read. */
export async function startFloodingService(sandbox: Sandbox): Promise<{ baseUrl: string }> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'HS256' })}.${part({ sub: 'd1' })}.c2lnbmF0dXJl`;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ token }));
  });
  const sockets = new WebSocketServer({ server, path: '/voice-stream' });
  sockets.on('connection', (socket, { socket: connection }) => {
    const more = () => {
      if (socket.readyState === socket.OPEN) connection.write(flood, more);
    };
    socket.once('message', () => {
      socket.send('{"type":"service_voice_connected"}');
      more();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  sandbox.defer(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
