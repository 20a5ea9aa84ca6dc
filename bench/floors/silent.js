/** A service that gives a token to everybody, confirms each stream and says nothing: for clients that are measured. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { announce } from './announce.js';

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"token":"a.bench.token"}');
  });
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (_data, isBinary) => {
    if (!isBinary) socket.send('{"type":"service_voice_connected"}');
  });
});
server.listen(0, '127.0.0.1', () => announce(server));
