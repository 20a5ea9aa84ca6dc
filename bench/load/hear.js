import { createTimes, toMicroseconds } from '../../src/runs/load/histogram.ts';
import { clientFrame, opcodes } from '../../src/wire/client/frames.ts';
import { frameMs } from './audio.js';
import { inMilliseconds } from './in-milliseconds.js';

/**
 * Only listens, on streams whose service speaks a frame every 20 ms without end, and measures how late each comes:
 * against the earliest that any of its stream came, 20 ms a frame.
 *
 * @param {import('./open-stream.js').LoadStream[]} streams
 * @param {{ warmMs: number, ms: number }} order
 * @param {() => void} begin
 */
export async function hear(streams, { warmMs, ms }, begin) {
  const late = createTimes();
  let isMeasuring = false;
  for (const stream of streams) {
    let anchor = Number.POSITIVE_INFINITY;
    let index = 0;
    stream.onAudio = () => {
      const arrived = performance.now() - index * frameMs;
      index += 1;
      anchor = Math.min(anchor, arrived);
      if (isMeasuring) late.add(toMicroseconds(arrived - anchor));
    };
    // A first message, for a service that speaks when it is spoken to.
    stream.stream.send(clientFrame(opcodes.binary, Buffer.alloc(2)));
  }
  await new Promise((resolve) => setTimeout(resolve, warmMs));
  isMeasuring = true;
  begin();
  const at = performance.now();
  await new Promise((resolve) => setTimeout(resolve, ms));
  isMeasuring = false;
  const expected = ((performance.now() - at) / frameMs) * streams.length;
  return { ...inMilliseconds(late), received: late.count / expected };
}
