/**
 * A service that answers constantly, to measure clients with: bare `node:http` and `ws`. Once a stream has ended, it
 * tells its parent when each frame came, and what was on its way to come.
 */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { announce } from './announce.js';

const day = 86_400;
const now = Math.floor(Date.now() / 1000);
const part = (/** @type {object} */ value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = { sub: 'bench', iat: now, exp: now + day, aud: 'voice-api', iss: 'bench' };
const token = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}.${'x'.repeat(43)}`;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ token }));
  });
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  /** @type {number[]} */
  const arrivals = [];
  socket.on('message', (_, isBinary) => {
    if (isBinary) arrivals.push(performance.now());
    else socket.send(JSON.stringify({ type: 'service_voice_connected' }));
  });
  socket.once('close', () => process.send?.({ arrivals }));
});
server.listen(0, '127.0.0.1', () => announce(server));
