import { describe, expect, test } from 'vitest';
import { createSentSpeech } from '../../src/audio/sent-speech.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';

/** Sends messages of `frameMs`, one every `everyMs`. */
function send(parts: Buffer[], frameMs = 20, everyMs = 20) {
  const spoken = createSentSpeech<number>();
  const frames = framesOf(Buffer.concat(parts), frameMs);
  const moments = frames.flatMap((frame, index) => spoken.push(frame, index * everyMs));
  return { spoken, moments, endedAt: frames.length * everyMs };
}

describe('speech in sent audio', () => {
  test.each([
    ['in real time', 20, 20, 400, 1_380],
    ['at a quarter of real time', 20, 80, 1_600, 5_520],
    ['at once', 20, 0, 0, 0],
    // The speech begins within the fifth message, and ends within the fourteenth.
    ['in messages of 100 ms', 100, 100, 400, 1_300],
    ['in messages of 70 ms', 70, 70, 350, 1_330],
    // The gate tells the end some messages later, within a message that is longer than its pause.
    ['in messages of 2 s', 2_000, 2_000, 0, 0],
  ])('has the times of the messages that carry it: %s', (_how, frameMs, everyMs, startAt, endAt) => {
    const { moments } = send([silence(400), speech(1_000), silence(3_000)], frameMs, everyMs);
    expect(moments).toEqual([
      { type: 'speech-start', atMs: 400, leftAt: startAt },
      { type: 'speech-end', atMs: 1_400, reason: 'silence', leftAt: endAt },
    ]);
  });

  test('ends with the message before a long one in which its end is detected', () => {
    const spoken = createSentSpeech<never>();
    spoken.push(speech(1_000), 100);
    expect(spoken.push(silence(5_000), 200)).toMatchObject([
      { type: 'speech-end', atMs: 1_000, leftAt: 100 },
    ]);
  });

  // If they were kept, they would expire together, one by one: that took half a minute.
  test('is found after many empty messages as without them', { timeout: 10_000 }, () => {
    const spoken = createSentSpeech<never>();
    const nothing = Buffer.alloc(0);
    spoken.push(silence(20), 0);
    for (let count = 0; count < 400_000; count += 1) spoken.push(nothing, 0);
    spoken.push(silence(980), 0);
    expect(spoken.push(speech(1_000), 100)).toEqual([{ type: 'speech-start', atMs: 1_000, leftAt: 100 }]);
  });

  test('ends with the audio', () => {
    const { spoken } = send([speech(1_000), silence(600)]);
    expect(spoken.speaking).toBe(true);
    expect(spoken.end()).toEqual([{ type: 'speech-end', atMs: 1_000, leftAt: 980, reason: 'ended' }]);
    expect(spoken.speaking).toBe(false);
    expect(spoken.end()).toEqual([]);
  });
});

describe('an item that comes during speech', () => {
  test('is held, oldest first, and released once', () => {
    const { spoken } = send([speech(1_000)]);
    expect(spoken.hold(1)).toEqual([]);
    expect(spoken.hold(2)).toEqual([]);
    expect(spoken.release()).toEqual([1, 2]);
    expect(spoken.release()).toEqual([]);
  });

  test('expires once more audio was sent than the gate looks back', () => {
    const { spoken } = send([speech(1_000)]);
    spoken.hold(1);
    spoken.push(speech(720), 0);
    expect(spoken.hold(2)).toEqual([]);
    spoken.push(speech(20), 0);
    expect(spoken.hold(3)).toEqual([1]);
    expect(spoken.release()).toEqual([2, 3]);
  });

  test('does not expire with time: audio may be sent at any pace', () => {
    const { spoken } = send([speech(1_000)]);
    spoken.hold(1);
    spoken.push(speech(20), 3_600_000);
    expect(spoken.hold(2)).toEqual([]);
  });

  test('is limited if nothing more is sent', () => {
    const { spoken } = send([speech(1_000)]);
    const expired = Array.from({ length: 10_000 }, (_, index) => spoken.hold(index)).flat();
    const held = spoken.release();
    expect(held.length).toBeLessThanOrEqual(4_000);
    expect([...expired, ...held]).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
  });
});
