import { createTimes, toMicroseconds } from '../../src/runs/load/histogram.ts';
import { clientFrame, opcodes } from '../../src/wire/client/client-frame.ts';
import { frameBytes, frameMs } from './audio.js';
import { inMilliseconds } from './in-milliseconds.js';

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
    socket.onAudio = (payload) => {
      if (isMeasuring) latency.add(toMicroseconds(performance.now() - payload.readDoubleLE()));
    };
    return { socket, frame: clientFrame(opcodes.binary, Buffer.alloc(frameBytes, 7)) };
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
        if (session.socket.stream.waitingBytes > 0) session.frame = Buffer.from(session.frame);
        stamp(session.frame, due(next));
        session.socket.stream.send(session.frame);
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

const time = Buffer.alloc(8);

/**
 * Puts a time into the first 8 bytes of the payload of a frame, masked as the frame is.
 *
 * @param {Buffer} frame
 * @param {number} moment
 */
function stamp(frame, moment) {
  time.writeDoubleLE(moment);
  const start = frame.length - frameBytes;
  for (let at = 0; at < time.length; at += 1)
    frame[start + at] = (time[at] ?? 0) ^ (frame[start - 4 + (at % 4)] ?? 0);
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
