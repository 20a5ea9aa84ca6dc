import { frameBytes, frameMs } from './audio.js';
import { clientFrame, stampFrame } from './client-frame.js';
import { createTimes } from './histogram.js';

/**
 * Sends a frame every 20 ms on each stream, the streams spread over the 20 ms, and measures how long after it was
 * due each comes back.
 *
 * @param {import('./socket.js').LoadSocket[]} sockets
 * @param {{ warmMs: number, ms: number }} order
 * @param {() => void} begin Called when the measuring begins.
 */
export async function pacedEcho(sockets, { warmMs, ms }, begin) {
  const latency = createTimes();
  const sendLate = createTimes();
  let isMeasuring = false;
  let sent = 0;
  const sessions = sockets.map((socket) => {
    socket.onAudio = (payload) => {
      if (isMeasuring) latency.add(performance.now() - payload.readDoubleLE());
    };
    return { socket, frame: clientFrame(2, Buffer.alloc(frameBytes, 7)) };
  });
  const start = performance.now() + 5;
  const due = (/** @type {number} */ index) => start + (index / sessions.length) * frameMs;
  let next = 0;
  await new Promise((resolve) => {
    const step = () => {
      const now = performance.now();
      if (!isMeasuring && now >= start + warmMs) {
        isMeasuring = true;
        begin();
      }
      if (now >= start + warmMs + ms) {
        resolve(undefined);
        return;
      }
      for (; due(next) <= now; next += 1) {
        const session = sessions[next % sessions.length];
        if (session === undefined || session.socket.closed) continue;
        // Where the last one has not left yet its buffer is still in use.
        if (session.socket.socket.writableLength > 0) session.frame = Buffer.from(session.frame);
        stampFrame(session.frame, frameBytes, due(next));
        session.socket.socket.write(session.frame);
        if (!isMeasuring) continue;
        sendLate.add(performance.now() - due(next));
        sent += 1;
      }
      sleepUntil(due(next));
      setImmediate(step);
    };
    step();
  });
  isMeasuring = false;
  return {
    sent,
    received: latency.count,
    p50: latency.at(50),
    p99: latency.at(99),
    max: latency.max,
    sendLateP99: sendLate.at(99),
  };
}

const cell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits more precisely than a timer, whose milliseconds would make a dozen streams speak at once and then none.
 *
 * @param {number} moment
 */
function sleepUntil(moment) {
  const ms = moment - performance.now();
  if (ms > 0) Atomics.wait(cell, 0, 0, ms);
}
