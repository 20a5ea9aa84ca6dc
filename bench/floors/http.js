/** The floor of the token endpoint: `node:http` with a constant answer of about the size of a real one. */
import { createServer } from 'node:http';
import { announce } from './announce.js';

const body = JSON.stringify({ token: 'x'.repeat(330) });
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, headers).end(body));
});
server.listen(0, '127.0.0.1', () => announce(server));
