import { expect, test } from 'vitest';
import { createLateStop } from '../../../src/service/faults/late-stop.ts';
import { playPcm } from '../../../src/service/streams/playable.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

/** A speaker that stops late, and what it began to say, by its first byte. */
function speak(delayMs: number) {
  const clock = createManualClock();
  const said: string[] = [];
  const speaker = {
    speaking: false,
    stop() {
      speaker.speaking = false;
    },
  };
  const speech = createLateStop({
    ...{ speaker, clock, delayMs: () => delayMs },
    say(playable) {
      said.push(playable.read(1)?.toString() ?? '');
      speaker.speaking = true;
    },
    onStopped: () => said.push('stopped'),
  });
  return {
    ...{ said, clock, stop: speech.stop },
    say: (text: string) => speech.say(playPcm(Buffer.from(text))),
    /** It has said all. */
    end() {
      speaker.speaking = false;
      return speech.ended();
    },
  };
}

test('a reply waits until the speaker stops', () => {
  const { said, clock, say, stop } = speak(700);
  say('r');
  stop();
  say('a');
  clock.advance(699);
  expect(said).toEqual(['r']);
  clock.advance(1);
  expect(said).toEqual(['r', 'stopped', 'a']);
});

test('replies are said when the speaker finishes before it stops, once and in order', () => {
  // Three seconds late, with one and a half left to say.
  const { said, clock, say, stop, end } = speak(3_000);
  say('r');
  stop();
  say('a');
  say('b');
  clock.advance(1_500);
  expect(end()).toBe(true);
  expect(said).toEqual(['r', 'a', 'b']);
  clock.advance(3_000);
  expect(end()).toBe(false);
  say('c');
  stop();
  clock.advance(3_000);
  expect(said).toEqual(['r', 'a', 'b', 'c', 'stopped']);
});

test('a reply that is interrupted before it begins is not said', () => {
  const { said, clock, say, stop } = speak(700);
  say('r');
  stop();
  say('a');
  clock.advance(300);
  stop();
  say('b');
  clock.advance(400);
  expect(said).toEqual(['r', 'stopped', 'b']);
});

test('no more replies wait than a speaker accepts', () => {
  const { said, clock, say, stop } = speak(700);
  say('r');
  stop();
  for (let count = 0; count < 1_000; count += 1) say('a');
  clock.advance(700);
  expect(said.length).toBeLessThan(100);
});
