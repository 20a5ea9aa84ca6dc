/** The floor of being spoken to: bare `ws`, one timer for all, and the same frame to each every 20 ms. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { frameBytes, frameMs } from '../load/audio.js';
import { announce } from './announce.js';

const frame = Buffer.alloc(frameBytes);
/** @type {Set<import('ws').WebSocket>} */
const sockets = new Set();
const server = createServer();
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.once('message', (token) => {
    socket.send(token, { binary: false });
    sockets.add(socket);
  });
  socket.once('close', () => sockets.delete(socket));
});

const start = performance.now();
let next = 1;
const tick = () => {
  for (; start + next * frameMs <= performance.now(); next += 1) {
    for (const socket of sockets) socket.send(frame);
  }
  setTimeout(tick, start + next * frameMs - performance.now());
};
tick();
server.listen(0, '127.0.0.1', () => announce(server));
