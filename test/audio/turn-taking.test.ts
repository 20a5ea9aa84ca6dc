import { describe, expect, test } from 'vitest';
import {
  createTurnTaking,
  createVoiceWatch,
  isGap,
  type MessagePair,
  ReplyArrivals,
} from '../../src/audio/turn-taking.ts';
import { bytesForMs } from '../../src/protocol/audio-format.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';

/** Two voices: what is sent leaves in real time. */
function listen(settleMs = 1_500) {
  const pairs: MessagePair[] = [];
  const turns = createTurnTaking({ settleMs, onPair: (pair) => pairs.push(pair) });
  let now = 0;
  return {
    turns,
    pairs,
    gaps: () => pairs.filter(isGap).map(({ at, silenceMs }) => [at - silenceMs, at]),
    send(...parts: Buffer[]) {
      for (const frame of framesOf(Buffer.concat(parts))) {
        turns.sent(frame, now);
        now += 20;
      }
    },
    hear: (at: number, ms = 20) => turns.received(bytesForMs(ms), at),
  };
}

describe('a gap', () => {
  test('is silence that a listener hears between two messages of one reply', () => {
    const { hear, gaps, pairs } = listen();
    for (const at of [0, 20, 340]) hear(at);
    expect(pairs).toEqual([
      { at: 20, betweenMs: 20, jitterMs: 0, silenceMs: 0 },
      { at: 340, betweenMs: 320, jitterMs: 300, silenceMs: 300 },
    ]);
    expect(gaps()).toEqual([[40, 340]]);
  });

  test.each([
    [99, []],
    [100, [[20, 120]]],
  ])('of %d ms is %j', (silenceMs, expected) => {
    const { hear, gaps } = listen();
    hear(0);
    hear(20 + silenceMs);
    expect(gaps()).toEqual(expected);
  });

  test('does not exist while early audio is still to be heard', () => {
    const { hear, gaps } = listen();
    for (const at of [0, 0, 0, 900]) hear(at, 300);
    expect(gaps()).toEqual([]);
    hear(1_400, 300);
    expect(gaps()).toEqual([[1_200, 1_400]]);
  });

  test.each([
    [1_499, 1],
    [1_500, 0],
  ])('does not exist after the reply has settled: %d ms after its last message', (at, count) => {
    const { hear, gaps } = listen(1_500);
    hear(0);
    hear(at);
    expect(gaps()).toHaveLength(count);
  });

  test('does not exist if the user spoke in between: the AI heard that, fell silent and replies again', () => {
    const { hear, send, gaps, pairs } = listen();
    send(silence(400));
    for (const at of [340, 360, 380]) hear(at);
    // Speech leaves from 400 to 880.
    send(speech(500), silence(1_000));
    for (const at of [1_640, 1_660]) hear(at);
    expect(gaps()).toEqual([]);
    expect(pairs.map(({ betweenMs, at }) => [at - betweenMs, at])).toEqual([
      [340, 360],
      [360, 380],
      [1_640, 1_660],
    ]);
  });

  test('does not exist if the reply comes before the end of speech is known', () => {
    const { hear, send, gaps } = listen();
    send(silence(400), speech(500));
    hear(600);
    send(silence(100));
    hear(990);
    expect(gaps()).toEqual([]);
    send(silence(900));
    expect(gaps()).toEqual([]);
  });

  test('is reported once it is certain, if it is within speech', () => {
    const { hear, send, gaps } = listen();
    send(silence(400), speech(500));
    hear(500);
    hear(800);
    expect(gaps()).toEqual([]);
    send(speech(1_000));
    // Held until the audio that was sent since is more than the gate looks back.
    hear(1_910);
    expect(gaps()).toEqual([[520, 800]]);
  });

  test('may be right before or right after the end of speech', () => {
    const { hear, send, gaps, turns } = listen();
    send(silence(400), speech(500));
    // The last message with speech leaves at 880.
    hear(600);
    hear(860);
    hear(880);
    hear(1_100);
    turns.finishSpeech();
    expect(gaps()).toEqual([
      [620, 860],
      [900, 1_100],
    ]);
  });

  test('does not exist after an interruption, which drops audio', () => {
    const { turns, hear, gaps } = listen();
    hear(0, 2_000);
    turns.interrupted(500);
    hear(1_000);
    expect(gaps()).toEqual([]);
    hear(1_320);
    expect(gaps()).toEqual([[1_020, 1_320]]);
  });
});

describe('the first audio', () => {
  test('belongs to the reply, not to an interrupted one', () => {
    const { turns, hear, send } = listen();
    send(silence(400), speech(500));
    for (const at of [500, 870, 880, 890]) hear(at);
    turns.finishSpeech();
    expect([turns.speechEndedAt, turns.firstAudioAt]).toEqual([880, 880]);
  });

  test('is not begun by an empty message', () => {
    const { turns, hear } = listen();
    hear(10, 0);
    expect(turns.firstAudioAt).toBeUndefined();
    hear(20);
    hear(40);
    expect(turns.firstAudioAt).toBe(20);
  });
});

test('audio that an interruption drops does not count as played, then or later', () => {
  const arrivals = new ReplyArrivals(1_500);
  arrivals.arrived(bytesForMs(1_000), 0);
  arrivals.interrupted(400);
  expect(arrivals.playedBefore(400)).toBe(400);
  arrivals.arrived(bytesForMs(20), 1_000);
  expect(arrivals.playedBefore(2_000)).toBe(420);
});

/** −50 dBFS: audible, but no speech. */
function tone(ms: number): Buffer {
  const pcm = silence(ms);
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(at % 4 === 0 ? 104 : -104, at);
  return pcm;
}

/** When speech last arrived, if the audio arrives in messages of `messageMs`, each when it begins. */
function voicedAt(pcm: Buffer, messageMs: number): number {
  const clock = createManualClock();
  const voice = createVoiceWatch(clock);
  const startedAt = clock.now();
  for (const message of framesOf(pcm, messageMs)) {
    voice.received(message);
    clock.advance(messageMs);
  }
  return voice.voicedAt - startedAt;
}

test.each([
  ['room tone is none', tone(5_000), 100, -Infinity],
  ['a click is none', Buffer.concat([tone(1_000), speech(40), tone(1_000)]), 20, -Infinity],
  ['a word in room tone is', Buffer.concat([tone(1_000), speech(400), tone(1_000)]), 100, 1_300],
  ['a word within one message is', Buffer.concat([tone(2_500), speech(400), tone(3_000)]), 2_000, 2_000],
  ['a hum counts as background within 4 s', speech(10_000), 100, 3_400],
])('is it speech? %s', (_what, pcm, messageMs, expected) => {
  expect(voicedAt(pcm, messageMs)).toBe(expected);
});
