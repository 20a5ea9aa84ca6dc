import { expect, test } from 'vitest';
import { playPcm } from '../../../src/service/streams/playable.ts';
import { createSpeaker } from '../../../src/service/streams/speaker.ts';
import { createPulse } from '../../../src/wire/pulse.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

function start() {
  const clock = createManualClock();
  const sent: { at: number; pcm: Buffer }[] = [];
  const ends: number[] = [];
  const speaker = createSpeaker({
    pulse: createPulse({ clock, periodMs: 20 }),
    frameBytes: 640,
    send: (pcm) => sent.push({ at: clock.now(), pcm }),
    onEnd: () => ends.push(clock.now()),
    onThrown(thrown) {
      throw thrown;
    },
  });
  return { clock, sent, ends, speaker };
}

const pcm = (bytes: number, fill: number) => playPcm(Buffer.alloc(bytes, fill));

test('says one playable after the other, a frame every 20 ms, and reports the end', () => {
  const { clock, sent, ends, speaker } = start();
  speaker.say(pcm(1_280, 1));
  speaker.say(pcm(641, 2));
  expect(speaker.speaking).toBe(true);
  clock.advance(1_000);
  expect(sent.map(({ pcm }) => [pcm[0], pcm.length])).toEqual([
    [1, 640],
    [1, 640],
    [2, 640],
    [2, 1],
  ]);
  expect(sent.map(({ at }) => at)).toEqual([0, 20, 40, 60]);
  expect(ends).toHaveLength(1);
  expect(speaker.speaking).toBe(false);
});

test('what is stopped is dropped, and its end is not reported', () => {
  const { clock, sent, ends, speaker } = start();
  speaker.say(pcm(6_400, 1));
  speaker.say(pcm(6_400, 2));
  clock.advance(50);
  speaker.stop();
  expect(speaker.speaking).toBe(false);
  clock.advance(1_000);
  expect(sent).toHaveLength(3);
  expect(ends).toEqual([]);
});

test('speaks again after it has stopped, and after it has ended', () => {
  const { clock, sent, ends, speaker } = start();
  speaker.say(pcm(640, 1));
  speaker.stop();
  speaker.say(pcm(640, 2));
  clock.advance(100);
  speaker.say(pcm(640, 3));
  clock.advance(100);
  expect(sent.map(({ pcm }) => pcm[0])).toEqual([2, 3]);
  expect(ends).toHaveLength(2);
});

test('a playable without audio ends at once', () => {
  const { clock, sent, ends, speaker } = start();
  speaker.say(pcm(0, 0));
  clock.advance(100);
  expect([sent, ends.length]).toEqual([[], 1]);
});

test('of very many playables the oldest that wait are dropped, and memory is bounded', () => {
  const { clock, sent, speaker } = start();
  for (let i = 0; i < 1_000; i += 1) speaker.say(playPcm(Buffer.from([i % 256, i >> 8])));
  clock.advance(60_000);
  expect(sent).toHaveLength(65);
  // The one that is being said is heard to its end.
  expect(sent[0]?.pcm.readUInt16LE()).toBe(0);
  expect(sent.at(-1)?.pcm.readUInt16LE()).toBe(999);
});
