import { createClip } from '../../src/runs/load/clip.ts';
import { createTimes, toMicroseconds } from '../../src/runs/load/histogram.ts';
import { frameMs, speechLike } from './audio.js';
import { inMilliseconds } from './in-milliseconds.js';

/** What all streams say over and over, each from another moment on. */
const { frames } = createClip(speechLike(15));
/**
 * When the frames were due that have not come back yet. They come back in order.
 *
 * @type {WeakMap<object, number[]>}
 */
const underWay = new WeakMap();

/**
 * Sends a frame every 20 ms on each stream, the streams spread over the 20 ms, and measures how long after it was
 * due each comes back.
 *
 * @param {import('./open-stream.js').LoadStream[]} streams
 * @param {{ warmMs: number, ms: number }} order
 * @param {() => void} begin Called when the measuring begins.
 */
export async function pacedEcho(streams, { warmMs, ms }, begin) {
  const latency = createTimes();
  const sendLate = createTimes();
  let isMeasuring = false;
  let sent = 0;
  const sessions = streams.map((socket) => {
    const dues = underWay.get(socket) ?? [];
    underWay.set(socket, dues);
    socket.onAudio = () => {
      const due = dues.shift();
      if (isMeasuring && due !== undefined) latency.add(toMicroseconds(performance.now() - due));
    };
    return { socket, dues };
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
        const round = Math.floor(next / sessions.length);
        const frame = frames[(7 * (next % sessions.length) + round) % frames.length];
        if (session === undefined || frame === undefined || session.socket.closed) continue;
        session.dues.push(due(next));
        session.socket.stream.send(frame);
        if (!isMeasuring) continue;
        sendLate.add(toMicroseconds(performance.now() - due(next)));
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
    ...inMilliseconds(latency),
    sendLateP99: inMilliseconds(sendLate).p99,
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
