import { describe, expect, test } from 'vitest';
import { createHold } from '../../../src/devices/playout/playback.ts';
import { speechPcm } from '../../helpers/device-audio.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { framesOf, silence, speech } from '../../helpers/pcm.ts';

/** Audible background at −50 dBFS. */
function background(ms: number): Buffer {
  const pcm = silence(ms);
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(at % 8 < 4 ? 104 : -104, at);
  return pcm;
}

/** A hold that has heard half a second of a reply; `hear` takes more of it, and says of each message whether it is held. */
function duringReply() {
  const clock = createManualClock();
  let readings = 0;
  // Like a real one, it never reads the same twice.
  const hold = createHold({ now: () => clock.now() + readings++ / 1_000_000 });
  const hear = (pcm: Buffer) =>
    framesOf(pcm).map((frame) => {
      clock.advance(20);
      return hold.covers(frame);
    });
  hear(speech(500));
  return { clock, hold, hear };
}

describe('a reply that the user interrupts', () => {
  test('is not played to its end, however long it goes on', () => {
    const { hold, hear } = duringReply();
    hold.start();
    for (let times = 0; times < 5; times += 1) expect(hear(speechPcm)).not.toContain(false);
  });

  test.each([
    ['nothing came', undefined],
    ['it was silent', silence(480)],
    ['only background was heard', background(480)],
  ])('has ended when %s for half a second', (_, pause) => {
    const { clock, hold, hear } = duringReply();
    hold.start();
    expect(hear(speech(100))).not.toContain(false);
    if (pause === undefined) clock.advance(480);
    else expect(hear(pause)).not.toContain(false);
    expect(hear(speech(40))).toEqual([false, false]);
  });

  test('has ended although the service sends background forever', () => {
    const { hold, hear } = duringReply();
    hear(background(10_000));
    hear(speechPcm.subarray(0, 64_000));
    hold.start();
    hear(background(10_000));
    expect(hear(speechPcm)).not.toContain(true);
  });

  test('is held for longer if the user speaks again', () => {
    const { hold, hear } = duringReply();
    hold.start();
    hear(silence(400));
    hold.start();
    expect(hear(silence(400))).not.toContain(false);
  });

  test('may have been sent ahead', () => {
    const { clock, hold, hear } = duringReply();
    hold.covers(speech(2_000));
    clock.advance(1_500);
    hold.start();
    expect(hear(speech(200))).not.toContain(false);
  });

  test('has ended when the service says so', () => {
    const { hold, hear } = duringReply();
    hold.start();
    hold.end();
    expect(hear(speech(20))).toEqual([false]);
  });

  test('is not held if the service says so before the user is found to speak', () => {
    const { hold, hear } = duringReply();
    hold.end();
    hold.start();
    expect(hear(speech(200))).not.toContain(true);
  });
});

test.each([
  ['nothing', silence(0)],
  ['silence', silence(600)],
  ['background', background(600)],
])('a reply is played that begins while the user speaks, after %s', (_, before) => {
  const { clock, hold, hear } = duringReply();
  if (before.length === 0) clock.advance(600);
  hear(before);
  hold.start();
  expect(hear(speechPcm)).not.toContain(true);
});

test('the first reply is played if the user has begun to speak before it', () => {
  const hold = createHold(createManualClock());
  hold.start();
  expect(hold.covers(speech(20))).toBe(false);
});
