/**
 * The floor of `load`: bare `ws` clients, each with a message of 20 ms of silence every 20 ms, one timer for all, the
 * streams spread over the 20 ms. `load-client.js WS_URL SESSIONS PER_SECOND SECONDS`.
 */
import { WebSocket } from 'ws';
import { frameBytes, frameMs } from '../load/audio.js';

const [url = '', count = '0', perSecond = '0', seconds = '0'] = process.argv.slice(2);
const sessions = Number(count);
const frame = Buffer.alloc(frameBytes);
const slots = 10;
/** @type {Set<WebSocket>[]} */
const wheel = Array.from({ length: slots }, () => new Set());
let ended = 0;
let frames = 0;

for (let index = 0; index < sessions; index += 1) {
  setTimeout(() => open(index), (index / Number(perSecond)) * 1000);
}

/** @param {number} index */
function open(index) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  socket.on('open', () => socket.send('token'));
  socket.once('message', () => {
    const slot = wheel[index % slots];
    slot?.add(socket);
    setTimeout(() => {
      slot?.delete(socket);
      socket.close();
    }, Number(seconds) * 1000);
  });
  socket.on('close', () => {
    ended += 1;
    if (ended === sessions) process.stdout.write(JSON.stringify({ frames }), () => process.exit(0));
  });
}

const start = performance.now();
let next = 0;
const step = () => {
  for (; start + (next * frameMs) / slots <= performance.now(); next += 1) {
    for (const socket of wheel[next % slots] ?? []) {
      socket.send(frame);
      frames += 1;
    }
  }
  setTimeout(step, start + (next * frameMs) / slots - performance.now());
};
step();
