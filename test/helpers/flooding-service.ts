import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Sandbox } from './voicectl.ts';

/** What may wait in the socket of a client: there is always more to read. */
const waitingBytes = 1_000_000;

/** A service that sends status messages as fast as they are read. */
export async function startFloodingService(sandbox: Sandbox): Promise<{ baseUrl: string }> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'HS256' })}.${part({ sub: 'd1' })}.c2lnbmF0dXJl`;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ token }));
  });
  const sockets = new WebSocketServer({ server, path: '/voice-stream' });
  sockets.on('connection', (socket) => {
    const flood = () => {
      if (socket.readyState !== socket.OPEN) return;
      while (socket.bufferedAmount < waitingBytes) socket.send('{"type":"status","status":"listening"}');
      setImmediate(flood);
    };
    socket.once('message', () => {
      socket.send('{"type":"service_voice_connected"}');
      flood();
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
