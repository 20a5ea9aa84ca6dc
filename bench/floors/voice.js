/** A service that speaks in real time as soon as somebody is there, and tells its parent when each frame left. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { makeMurmur } from '../../test/helpers/murmur.js';
import { frameBytes, frameMs } from '../load/audio.js';
import { now } from '../sound/time.js';

const voice = makeMurmur(60);
const frames = voice.length / frameBytes;
const day = 86_400;
const issued = Math.floor(Date.now() / 1000);
const part = (/** @type {object} */ value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = { sub: 'bench', iat: issued, exp: issued + day, aud: 'voice-api', iss: 'bench' };
const token = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}.${'x'.repeat(43)}`;

/** @type {import('ws').WebSocket | undefined} */
let socket;
let mode = 'speak';
process.on('message', (/** @type {{ mode?: string, message?: object }} */ told) => {
  mode = told.mode ?? mode;
  if (told.message !== undefined) socket?.send(JSON.stringify(told.message));
});

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ token }));
  });
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (one) => {
  one.on('message', (data, isBinary) => {
    if (!isBinary) {
      one.send(JSON.stringify({ type: 'service_voice_connected' }));
      socket = one;
      process.send?.({ live: true });
    } else if (mode === 'echo') one.send(data);
  });
  one.on('close', () => process.send?.({ live: false }));
});

const start = now();
let next = 0;
const tick = () => {
  for (; start + next * frameMs <= now(); next += 1) {
    if (mode !== 'speak' || socket?.readyState !== 1) continue;
    const from = (next % frames) * frameBytes;
    socket.send(voice.subarray(from, from + frameBytes));
    process.send?.({ frame: next, at: now() });
  }
  setTimeout(tick, start + next * frameMs - now());
};
tick();
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
