import { frameBytes, frameMs, speechLike } from './audio.js';
import { clientFrame } from './client-frame.js';

/**
 * Talks on each stream as people do, in real time, each from another moment of the same talk; what comes back is
 * not looked at. With `textEveryMs` each stream also sends a text that often, which a service tells of as an event.
 *
 * @param {import('./socket.js').LoadSocket[]} sockets
 * @param {{ warmMs: number, ms: number, textEveryMs?: number }} order
 * @param {() => void} begin
 */
export async function talk(sockets, { warmMs, ms, textEveryMs }, begin) {
  const pcm = speechLike(15);
  const frames = Array.from({ length: pcm.length / frameBytes }, (_, at) =>
    clientFrame(2, pcm.subarray(at * frameBytes, (at + 1) * frameBytes)),
  );
  const text = clientFrame(1, Buffer.from('hello'));
  const start = performance.now();
  let nextTextAt = textEveryMs === undefined ? Number.POSITIVE_INFINITY : start;
  const due = (/** @type {number} */ index) => start + (index / sockets.length) * frameMs;
  let next = 0;
  let hasBegun = false;
  await new Promise((resolve) => {
    const step = () => {
      const now = performance.now();
      if (!hasBegun && now >= start + warmMs) {
        hasBegun = true;
        begin();
      }
      if (now >= start + warmMs + ms) {
        resolve(undefined);
        return;
      }
      for (; due(next) <= now; next += 1) {
        const at = next % sockets.length;
        const frame = frames[(Math.floor(next / sockets.length) + at * 7) % frames.length];
        if (frame !== undefined) sockets[at]?.socket.write(frame);
      }
      for (; nextTextAt <= now; nextTextAt += textEveryMs ?? 0) {
        for (const { socket } of sockets) socket.write(text);
      }
      setTimeout(step, 1);
    };
    step();
  });
  return { frames: next };
}
