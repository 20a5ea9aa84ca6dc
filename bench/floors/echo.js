/** The floor of the voice stream: bare `ws`, which sends back what it gets. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { announce } from './announce.js';

const server = createServer();
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.listen(0, '127.0.0.1', () => announce(server));
