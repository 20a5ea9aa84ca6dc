import { systemClock } from '../../src/kernel/clock.ts';
import { createClip } from '../../src/runs/load/clip.ts';
import { clientFrame, opcodes } from '../../src/wire/client/frames.ts';
import { createPulse } from '../../src/wire/pulse.ts';
import { frameMs, speechLike } from './audio.js';

const slotsPerPeriod = 10;

/**
 * Talks on each stream as people do, in real time, each from another moment of the same talk; what comes back is
 * not looked at. With `textEveryMs` each stream also sends a text that often, which a service tells of as an event.
 *
 * @param {import('./open-stream.js').LoadStream[]} streams
 * @param {{ warmMs: number, ms: number, textEveryMs?: number }} order
 * @param {() => void} begin
 */
export async function talk(streams, { warmMs, ms, textEveryMs }, begin) {
  const { frames } = createClip(speechLike(15));
  const text = clientFrame(opcodes.text, Buffer.from('hello'));
  const pulse = createPulse({ clock: systemClock, periodMs: frameMs, slotsPerPeriod });
  let sent = 0;
  for (const [index, { stream }] of streams.entries()) {
    let next = index * 7;
    pulse.add(() => {
      const frame = frames[next % frames.length];
      if (frame !== undefined) stream.send(frame);
      next += 1;
      sent += 1;
    });
  }
  const texts = createPulse({ clock: systemClock, periodMs: textEveryMs ?? frameMs, slotsPerPeriod: 1 });
  if (textEveryMs !== undefined) {
    texts.add(() => {
      for (const { stream } of streams) stream.send(text);
    });
  }
  await new Promise((resolve) => setTimeout(resolve, warmMs));
  begin();
  await new Promise((resolve) => setTimeout(resolve, ms));
  texts.close();
  pulse.close();
  return { frames: sent };
}
