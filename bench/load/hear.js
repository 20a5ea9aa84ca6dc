import { frameMs } from './audio.js';
import { clientFrame } from './client-frame.js';
import { createTimes } from './histogram.js';

/**
 * Only listens, on streams whose service speaks a frame every 20 ms without end, and measures how late each comes:
 * against the earliest that any of its stream came, 20 ms a frame.
 *
 * @param {import('./socket.js').LoadSocket[]} sockets
 * @param {{ warmMs: number, ms: number }} order
 * @param {() => void} begin
 */
export async function hear(sockets, { warmMs, ms }, begin) {
  const late = createTimes();
  let isMeasuring = false;
  for (const socket of sockets) {
    let anchor = Number.POSITIVE_INFINITY;
    let index = 0;
    socket.onAudio = () => {
      const arrived = performance.now() - index * frameMs;
      index += 1;
      anchor = Math.min(anchor, arrived);
      if (isMeasuring) late.add(arrived - anchor);
    };
    // A first message, for a service that speaks when it is spoken to.
    socket.socket.write(clientFrame(2, Buffer.alloc(2)));
  }
  await new Promise((resolve) => setTimeout(resolve, warmMs));
  isMeasuring = true;
  begin();
  const at = performance.now();
  await new Promise((resolve) => setTimeout(resolve, ms));
  isMeasuring = false;
  const expected = ((performance.now() - at) / frameMs) * sockets.length;
  return { p50: late.at(50), p99: late.at(99), max: late.max, received: late.count / expected };
}
