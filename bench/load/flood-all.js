import { clientFrame, opcodes } from '../../src/wire/client/frames.ts';
import { frameBytes } from './audio.js';

/** Frames on their way at once, on each stream. */
const inFlight = 8;

/**
 * Sends the next frame on each stream whenever one of it comes back, until so many have come back in all: what passes in
 * hours, as fast as it can.
 *
 * @param {import('./open-stream.js').LoadStream[]} streams
 * @param {{ frames: number }} order
 * @param {() => void} begin
 */
export async function floodAll(streams, { frames }, begin) {
  const frame = clientFrame(opcodes.binary, Buffer.alloc(frameBytes, 7));
  let received = 0;
  begin();
  const at = performance.now();
  await new Promise((resolve) => {
    for (const one of streams) {
      one.onAudio = () => {
        received += 1;
        if (received < frames) one.stream.send(frame);
        else resolve(undefined);
      };
      for (let sent = 0; sent < inFlight; sent += 1) one.stream.send(frame);
    }
  });
  return { received, seconds: (performance.now() - at) / 1000 };
}
