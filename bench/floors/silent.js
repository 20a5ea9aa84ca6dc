/**
 * A service that gives a token to everybody and confirms each stream: for clients that are measured. Then it says
 * nothing, or with `silent.js echo` sends back what it gets.
 */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { announce } from './announce.js';

const isEcho = process.argv[2] === 'echo';
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"token":"a.bench.token"}');
  });
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (data, isBinary) => {
    if (!isBinary) socket.send('{"type":"service_voice_connected"}');
    else if (isEcho) socket.send(data);
  });
});
server.listen(0, '127.0.0.1', () => announce(server));
