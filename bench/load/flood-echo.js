import { clientFrame, opcodes } from '../../src/wire/client/frames.ts';
import { frameBytes } from './audio.js';

/** Frames on their way at once. */
const inFlight = 64;

/**
 * Sends the next frame whenever one comes back: how many a service can turn round on one connection.
 *
 * @param {import('./open-stream.js').LoadStream[]} streams
 * @param {{ warmMs: number, ms: number }} order
 * @param {() => void} begin
 */
export async function floodEcho(streams, { warmMs, ms }, begin) {
  const [one] = streams;
  if (one === undefined) throw new Error('no stream is open');
  const frame = clientFrame(opcodes.binary, Buffer.alloc(frameBytes, 7));
  let received = 0;
  let owed = 0;
  let underWay = inFlight;
  let isOver = false;
  let drained = () => {};
  one.onAudio = () => {
    received += 1;
    if (isOver) {
      underWay -= 1;
      if (underWay === 0) drained();
      return;
    }
    owed += 1;
    // What came in one piece goes out in one piece.
    if (owed === 1) queueMicrotask(sendOwed);
  };
  const sendOwed = () => {
    one.stream.send(owed === 1 ? frame : Buffer.concat(Array.from({ length: owed }, () => frame)));
    owed = 0;
  };
  owed = inFlight;
  sendOwed();
  await pass(warmMs);
  begin();
  const [before, at] = [received, performance.now()];
  await pass(ms);
  const perSecond = ((received - before) / (performance.now() - at)) * 1000;
  // What is measured next begins with nothing under way.
  const ended = new Promise((resolve) => {
    drained = () => resolve(undefined);
  });
  isOver = true;
  await ended;
  return { perSecond };
}

/** @param {number} ms */
function pass(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
