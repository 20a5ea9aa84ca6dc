import { expect, test } from 'vitest';
import { type LoopHandlers, testLoop } from '../../src/devices/loop-test.ts';
import { waitUntil } from '../../src/kernel/clock.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { speech } from '../helpers/pcm.ts';

const frameMs = 20;
const bytesPerMs = 32;

/** A room with soft noise, in which somebody speaks for two seconds. The microphone hears the loudspeaker after `delayMs`. */
function createRoom(delayMs: number | undefined) {
  const clock = createManualClock();
  const { signal } = new AbortController();
  const room = Buffer.alloc(10_000 * bytesPerMs);
  for (let at = 0; at < room.length; at += 2) room.writeInt16LE(at % 8 < 4 ? 10 : -10, at);
  const startedAt = clock.now();
  speech(2_000).copy(room);
  let nextAt = startedAt;
  const capture = {
    backend: 'ear',
    async *read() {
      for (let ms = 0; ; ms += frameMs) {
        await waitUntil(clock, startedAt + ms + frameMs, signal);
        yield room.subarray(ms * bytesPerMs, (ms + frameMs) * bytesPerMs);
      }
    },
    clear() {},
    stop: async () => {},
  };
  const speaker = {
    backend: 'mouth',
    lost: new Promise<never>(() => {}),
    delayMs: 0,
    holes: 0,
    async ready() {
      await waitUntil(clock, nextAt, signal);
      nextAt = Math.max(nextAt, clock.now()) + frameMs;
    },
    write(frame: Buffer) {
      if (delayMs === undefined) return;
      const from = (clock.now() - startedAt + delayMs) * bytesPerMs;
      for (let at = 0; at < frame.length; at += 2)
        room.writeInt16LE(room.readInt16LE(from + at) + Math.round(frame.readInt16LE(at) / 2), from + at);
    },
    drainLateMs: () => 0,
    finish: async () => {},
    stop: async () => {},
  };
  const handlers: LoopHandlers = { onRecording() {}, onPlaying() {}, onMeasuring() {}, clock, signal };
  return { clock, testing: testLoop(capture, speaker, handlers) };
}

test.each([
  ['at once', 20, 20],
  ['after 440 ms', 440, 440],
  ['after a second', 1_000, 1_000],
  ['never', undefined, undefined],
])('the noise is that of the room if the loudspeaker is heard %s', async (_when, delayMs, loopMs) => {
  const { clock, testing } = createRoom(delayMs);
  await clock.run(7_000);
  const result = await testing;
  expect(result).toMatchObject({ input: 'ear', output: 'mouth' });
  expect(result.level.rmsDbfs).toBeGreaterThan(-30);
  expect(result.noiseDbfs).toBeLessThan(-65);
  if (loopMs === undefined) expect(result.loopMs).toBeUndefined();
  else expect(Math.abs((result.loopMs ?? 0) - loopMs)).toBeLessThanOrEqual(40);
});
