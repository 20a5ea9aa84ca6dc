import { describe, expect, test } from 'vitest';
import { FrameSender } from '../../../src/runs/load/frame-sender.ts';
import { createListener, createTalker, type LoadRole } from '../../../src/runs/load/load-session.ts';
import { ReplyMeter } from '../../../src/runs/load/reply-meter.ts';
import { Tally } from '../../../src/runs/load/tally.ts';
import type { FastStream } from '../../../src/wire/client/fast-stream.ts';
import { clientFrame, opcodes } from '../../../src/wire/client/frames.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { speech } from '../../helpers/pcm.ts';

const frame = clientFrame(opcodes.binary, Buffer.alloc(640));
/** Ten frames, of which the eighth carries the end of speech. */
const clip = {
  frames: Array.from({ length: 10 }, () => frame),
  pcm: Buffer.alloc(6_400),
  silence: frame,
  speechStart: 2,
  speechEnd: 7,
};
const loud = { payload: speech(20) };
const silent = { payload: Buffer.alloc(640) };
const times = { giveUpMs: 1000, holdMs: 0, clipMs: 200, waitMs: 2000, settleMs: 400, stormAtMs: 0 };

/** Plays a role frame by frame, with replies at the given moments; `until`: the moment at which it was over. */
function play(
  create: (parts: Parameters<typeof createTalker>[0]) => LoadRole,
  {
    audioAt = [],
    interruptedAt = Infinity,
    message = loud,
    silentUntil = 0,
    silentFrom = Infinity,
    lastMs = 5_000,
    waiting = 0,
    standStill = [0, 0],
  }: {
    audioAt?: number[];
    /** When the service says that the reply is interrupted. */
    interruptedAt?: number;
    message?: { payload: Buffer };
    /** Messages before and from these moments on are silent. */
    silentUntil?: number;
    silentFrom?: number;
    lastMs?: number;
    waiting?: number;
    standStill?: [from: number, to: number];
  } = {},
) {
  const clock = createManualClock();
  const tally = new Tally();
  const meter = new ReplyMeter(tally, times.settleMs);
  const sent: number[] = [];
  let now = 0;
  const stream = { waitingBytes: waiting, send: () => sent.push(now) } as unknown as FastStream;
  const sender = new FrameSender(stream, { clip, tally, clock }, meter);
  const role = create({ meter, sender, tally, times, confirmedAt: 0 });
  let thrown: unknown;
  const left = [...audioAt];
  let until: number | undefined;
  try {
    for (now = 0; now <= lastMs && until === undefined; now += 20) {
      if (now === standStill[0]) now = standStill[1];
      while ((left[0] ?? Infinity) <= now) {
        const at = left.shift() ?? 0;
        const from = at < silentUntil || at >= silentFrom ? silent : message;
        meter.hear(from.payload.length, at, from);
      }
      if (now >= interruptedAt) {
        meter.interrupted(now);
        interruptedAt = Infinity;
      }
      if (role.tick(now)) until = now;
    }
  } catch (error) {
    thrown = error;
  }
  return { ...tally.flush(), until, thrown, sent, awaited: role.awaited };
}

const every20 = (from: number, to: number) =>
  Array.from({ length: (to - from) / 20 }, (_, index) => from + index * 20);

describe('a talker', () => {
  const talk = (parts: Parameters<typeof createTalker>[0]) => createTalker(parts, false);

  test('measures first audio from when the last frame of speech was due', () => {
    const { finished, counts, until } = play(talk, { audioAt: every20(440, 1_000) });
    // The eighth frame was due at 140 ms.
    expect(finished['first-audio']).toEqual([300_000]);
    expect(finished.response).toEqual([300_000]);
    expect(finished['talk-over']).toEqual([1]);
    expect(counts).toMatchObject({ turns: 1, replies: 1, messagesIn: 28 });
    expect(finished.gap).toEqual([20_000]);
    expect(finished.jitter).toEqual([1]);
    // The reply paused for 400 ms after its last message at 980 ms.
    expect(until).toBe(1_380);
  });

  test('has no response time for a silent reply: the time without sound counts as a lower bound', () => {
    const { finished, unfinished } = play(talk, {
      audioAt: every20(440, 1_000),
      message: silent,
    });
    expect(finished.response).toBeUndefined();
    // From the eighth frame, at 140 ms, until it is no longer waited for.
    expect(unfinished.response).toEqual([times.waitMs * 1_000]);
  });

  test('hears a long reply to its end, and ignores silence after it', () => {
    const long = { audioAt: every20(440, 9_000), lastMs: 12_000 };
    expect(play(talk, long).until).toBe(8_980 + times.settleMs);
    const thenSilent = { ...long, audioAt: every20(440, 12_000), silentFrom: 9_000 };
    expect(play(talk, thenSilent).until).toBe(8_980 + times.settleMs);
  });

  test('waits through silence until a reply is heard', () => {
    const late = { audioAt: every20(440, 2_000), silentUntil: 1_500 };
    const { finished, until } = play(talk, late);
    expect(finished['first-audio']).toEqual([300_000]);
    expect(finished.response).toEqual([1_360_000]);
    expect(until).toBe(1_980 + times.settleMs);
  });

  test.each([
    ['hears a reply whole', 36_140, 36_120 + times.settleMs],
    ['counts background as over, 30 s after it was first heard,', 70_000, 65_140],
  ])('%s if it follows 35 s of silence within the wait', (_what, audioUntil, over) => {
    const patient = (parts: Parameters<typeof createTalker>[0]) =>
      createTalker({ ...parts, times: { ...times, waitMs: 60_000 } }, false);
    // The eighth frame was due at 140 ms.
    const audioAt = every20(160, audioUntil);
    const late = play(patient, { audioAt, silentUntil: 35_140, lastMs: 80_000 });
    expect([late.finished.response, late.unfinished.response]).toEqual([[35_000_000], undefined]);
    expect(late.counts).toMatchObject({ turns: 1, replies: 1 });
    expect(late.until).toBe(over);
  });

  test('counts the worst jitter and the longest gap of a reply', () => {
    const { finished } = play(talk, { audioAt: [440, 460, 560, 580] });
    expect(finished.gap).toEqual([100_000]);
    expect(finished.jitter).toEqual([80_000]);
  });

  test('fails a session without a reply, and counts how long it waited', () => {
    const { thrown, unfinished } = play(talk);
    expect(thrown).toMatchObject({ details: { kind: 'late-audio' } });
    expect(unfinished['first-audio']).toEqual([2_000_000]);
  });

  test.each([
    ['while it speaks', 100, 'the reply'],
    ['while it waits', 400, 'the reply'],
    ['while it hears the reply', 700, undefined],
    ['while it speaks again', 1_500, undefined],
    ['while it waits again', 1_800, 'the reply'],
  ])('%s, at %d ms, awaits %s', (_when, lastMs, awaited) => {
    const long = (parts: Parameters<typeof createTalker>[0]) =>
      createTalker({ ...parts, times: { ...times, holdMs: 60_000 } }, false);
    expect(play(long, { audioAt: every20(440, 1_000), lastMs }).awaited).toBe(awaited);
  });

  test('sends nothing more to a service that does not read, and counts the frames', () => {
    const { sent, counts } = play(talk, { waiting: 300_000, lastMs: 200 });
    expect(sent).toEqual([]);
    expect(counts).toMatchObject({ framesOut: 0, framesHeld: 11 });
  });
});

describe('a barge-in', () => {
  const interrupt = (parts: Parameters<typeof createTalker>[0]) => createTalker(parts, true);

  test('speaks again half a second into the reply, and measures how long the reply goes on', () => {
    // The reply begins at 440 ms, is interrupted at 940 ms, and stops at 1,040 ms; the next comes at 1,400 ms.
    const { finished, counts, thrown } = play(interrupt, {
      audioAt: [...every20(440, 1_060), ...every20(1_400, 1_500)],
    });
    expect(thrown).toBeUndefined();
    expect(finished.stops).toEqual([100_000]);
    // Its speech begins at 980 ms; the last message is heard to its end.
    expect(finished.yield).toEqual([80_000]);
    expect(finished['talk-over']).toEqual([1, 80_000]);
    expect(counts).toMatchObject({ turns: 2, replies: 2 });
  });

  test('counts jitter and gap once for each reply, with what still comes of an interrupted one', () => {
    // The interruption at 940 ms is between two messages of the first reply, which are 60 ms apart.
    const { finished, counts } = play(interrupt, {
      audioAt: [...every20(440, 940), ...every20(980, 1_060), ...every20(1_400, 1_500)],
    });
    expect(counts).toMatchObject({ replies: 2 });
    expect(finished.gap).toEqual([60_000, 20_000]);
    expect(finished.jitter).toEqual([40_000, 1]);
  });

  test('takes the silence that a service goes on sending for the end of the reply', () => {
    const { finished, thrown } = play(interrupt, {
      audioAt: every20(0, 2_500),
      silentUntil: 440,
      silentFrom: 1_060,
    });
    expect(thrown).toBeUndefined();
    expect(finished.stops).toEqual([100_000]);
    expect(finished.yield).toEqual([80_000]);
  });

  test('hears audio that was sent ahead until a message drops it', () => {
    // Ten seconds within 400 ms; the interruption at 940 ms speaks from 980 ms on, and is noticed at 1,400 ms.
    const { finished } = play(interrupt, {
      audioAt: [440, 800, ...every20(2_000, 2_100)],
      message: { payload: speech(5_000) },
      interruptedAt: 1_400,
    });
    expect(finished.yield).toEqual([420_000]);
  });

  test('has no yield for a reply that was over before the first word', () => {
    const { finished, unfinished } = play(interrupt, {
      audioAt: [...every20(440, 900), ...every20(1_400, 1_500)],
    });
    expect([finished.yield, unfinished.yield]).toEqual([undefined, undefined]);
  });

  test('does not take the rest of the old reply for the reply to a short interruption', () => {
    // The interruption ends at 1,080 ms, the old reply at 1,180 ms; the answer comes at 1,600 ms.
    const { finished } = play(interrupt, { audioAt: [...every20(440, 1_200), ...every20(1_600, 1_700)] });
    expect(finished['first-audio']).toEqual([300_000, 520_000]);
    expect(finished.response).toEqual([300_000, 520_000]);
  });

  test.each([
    ['while it interrupts', 1_060, 'the reply'],
    ['before the old reply has stopped', 1_240, 'the reply'],
    ['while it waits for the next one', 1_560, 'the reply'],
    ['while it hears the next one', 1_660, undefined],
  ])('%s, at %d ms, awaits %s', (_when, lastMs, awaited) => {
    const audioAt = [...every20(440, 1_200), ...every20(1_600, 1_700)];
    expect(play(interrupt, { audioAt, lastMs }).awaited).toBe(awaited);
  });

  test('fails a session whose reply goes on', () => {
    const { thrown, unfinished } = play(interrupt, { audioAt: every20(440, 4_000) });
    expect(thrown).toMatchObject({ details: { kind: 'not-interrupted' } });
    expect(unfinished.stops?.[0]).toBeGreaterThan(190_000);
  });
});

test('a listener sends silence until its time is over', () => {
  const { until, sent } = play((parts) => createListener(parts, 1_000));
  expect(until).toBe(1_000);
  expect(sent).toHaveLength(51);
});

test.each<[from: number, to: number, missed: number]>([
  [500, 500, 0],
  [500, 700, 10],
  // It comes back after its end.
  [500, 3_000, 25],
])('when it stood still from %d to %d ms, %d frames were missed', (from, to, missed) => {
  const { counts } = play((parts) => createListener(parts, 1_000), { standStill: [from, to] });
  expect(counts).toMatchObject({ framesMissed: missed, framesOut: 51 - missed });
});
