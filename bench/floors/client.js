/**
 * The floor of `stream`: a bare `ws` client that sends a number of frames to a service, each 20 ms (`realtime`)
 * against a monotonic deadline, or as fast as the socket takes them (`max`). `client.js WS_URL FRAMES PACE`.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { frameBytes, frameMs } from '../load/audio.js';

const [url = '', frames = '0', pace = 'realtime'] = process.argv.slice(2);
const frame = Buffer.alloc(frameBytes);
const socket = new WebSocket(url, { perMessageDeflate: false });
const welcome = once(socket, 'message');
await once(socket, 'open');
socket.send('token');
await welcome;
if (pace === 'max') {
  for (let sent = 0; sent < Number(frames); sent += 1) {
    if (socket.bufferedAmount < 65_536) socket.send(frame);
    else await new Promise((resolve) => socket.send(frame, resolve));
  }
} else {
  const start = performance.now();
  for (let sent = 0; sent < Number(frames); sent += 1) {
    const wait = start + sent * frameMs - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    socket.send(frame);
  }
}
socket.close();
