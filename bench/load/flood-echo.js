import { frameBytes } from './audio.js';
import { clientFrame } from './client-frame.js';

/** Frames on their way at once. */
const inFlight = 64;

/**
 * Sends the next frame whenever one comes back: how many a service can turn round on one connection.
 *
 * @param {import('./socket.js').LoadSocket[]} sockets
 * @param {{ warmMs: number, ms: number }} order
 * @param {() => void} begin
 */
export async function floodEcho(sockets, { warmMs, ms }, begin) {
  const [socket] = sockets;
  if (socket === undefined) throw new Error('no stream is open');
  const frame = clientFrame(2, Buffer.alloc(frameBytes, 7));
  let received = 0;
  let owed = 0;
  socket.onAudio = () => {
    received += 1;
    owed += 1;
    // What came in one piece goes out in one piece.
    if (owed === 1) queueMicrotask(sendOwed);
  };
  const sendOwed = () => {
    socket.socket.write(owed === 1 ? frame : Buffer.concat(Array.from({ length: owed }, () => frame)));
    owed = 0;
  };
  owed = inFlight;
  sendOwed();
  await pass(warmMs);
  begin();
  const [before, at] = [received, performance.now()];
  await pass(ms);
  return { perSecond: ((received - before) / (performance.now() - at)) * 1000 };
}

/** @param {number} ms */
function pass(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
