import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Sandbox } from './voicectl.ts';

/** A service without any tact: the key that a token was asked with stands in its claims, messages and close reason. */
export async function startEchoOfKeys(sandbox: Sandbox): Promise<{ baseUrl: string }> {
  let key = '';
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    key = JSON.parse(body).apiKey;
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'HS256' })}.${part({ sub: 'd1', key })}.c2lnbmF0dXJl`;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ token }));
  });
  const sockets = new WebSocketServer({ server, path: '/voice-stream' });
  sockets.on('connection', (socket) => {
    socket.once('message', () => {
      socket.send(JSON.stringify({ type: 'service_voice_connected', for: key }));
      socket.send(JSON.stringify({ type: key, text: [`Hello ${key}`] }));
      socket.send(`not JSON: ${key}`);
      socket.send(JSON.stringify({ type: 'error', error: { code: key, message: `${key} has failed` } }));
      socket.close(1011, `gone with ${key}`);
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
