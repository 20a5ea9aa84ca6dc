import { describe, expect, test } from 'vitest';
import { takeTurns } from '../../../src/emulator/replies/turns.ts';
import { createDeferred, type Deferred } from '../../../src/kernel/promises.ts';
import { type Playable, playPcm } from '../../../src/service/streams/playable.ts';
import { speakWith } from '../../helpers/fake-voice.ts';
import { silence, speech } from '../../helpers/pcm.ts';

const start = () => speakWith(takeTurns(playPcm));

test('listens first, speaks when the user has been silent for 700 ms, and listens again', () => {
  const { log, hear, finishSpeaking } = start();
  expect(log).toEqual(['listening']);
  hear(Buffer.concat([silence(200), speech(1_000), silence(600)]));
  expect(log.slice(1)).toEqual(['turn at 200']);
  hear(silence(200));
  expect(log.slice(2)).toEqual(['turn of 1000 ended at 1200', 'speaking', 'say']);
  finishSpeaking();
  expect(log.slice(5)).toEqual(['listening']);
});

test('continuous speech is one turn, however many short pauses it has', () => {
  const { log, hear } = start();
  for (let i = 0; i < 5; i += 1) hear(Buffer.concat([speech(300), silence(500)]));
  hear(silence(1_000));
  expect(log.filter((entry) => entry === 'say')).toHaveLength(1);
});

test('silence is not a turn', () => {
  const { log, hear, clock } = start();
  hear(silence(10_000));
  clock.advance(10_000);
  expect(log).toEqual(['listening']);
});

test('a user who talks over the reply stops it, and gets a reply afterwards', () => {
  const { log, hear } = start();
  hear(Buffer.concat([speech(500), silence(800)]));
  log.length = 0;
  hear(speech(200));
  expect(log).toEqual(['turn at 1300', 'stop', 'listening']);
  hear(silence(800));
  expect(log.slice(3)).toEqual(['turn of 200 ended at 1500', 'speaking', 'say']);
});

test('a device that stops sending has ended its turn after 700 ms', () => {
  const { log, hear, clock } = start();
  hear(speech(500));
  clock.advance(699);
  expect(log).toEqual(['listening', 'turn at 0']);
  clock.advance(1);
  expect(log.slice(2)).toEqual(['turn of 500 ended at 500', 'speaking', 'say']);
  clock.advance(10_000);
  expect(log).toHaveLength(5);
});

test('a device that pauses for less than 700 ms has not ended its turn', () => {
  const { log, hear, clock } = start();
  for (let i = 0; i < 5; i += 1) {
    hear(speech(100));
    clock.advance(600);
  }
  expect(log).toEqual(['listening', 'turn at 0']);
});

test('the turn is what was heard, with a little audio before and after it', () => {
  const { said, hear } = start();
  const words = speech(1_000);
  hear(Buffer.concat([silence(5_000), words, silence(800)]));
  const at = said[0]!.indexOf(words);
  expect(at).toBeGreaterThanOrEqual(0);
  expect(said[0]!.length).toBeLessThanOrEqual(words.length + 2 * 120 * 32);
});

test.each([2, 62, 640, 32_000])('messages of %i bytes make the same turn', (bytes) => {
  const pcm = Buffer.concat([silence(1_500), speech(700), silence(1_000)]);
  const [one, other] = [start(), start()];
  one.hear(pcm, 640);
  other.hear(pcm, bytes);
  expect(other.said[0]!.indexOf(speech(700))).toBeGreaterThanOrEqual(0);
  expect(Math.abs(other.said[0]!.length - one.said[0]!.length)).toBeLessThanOrEqual(32_000);
});

test('a stream that has ended triggers nothing', () => {
  const { log, hear, clock, reply } = start();
  hear(speech(500));
  reply.close?.();
  clock.advance(10_000);
  expect(log).toEqual(['listening', 'turn at 0']);
});

test('a turn of half a minute gets a reply although it has not ended', () => {
  const { log, hear } = start();
  // A gap now and then keeps the gate from taking it for background noise.
  for (let i = 0; i < 35; i += 1) hear(Buffer.concat([speech(900), silence(100)]));
  expect(log.filter((entry) => entry === 'say')).toHaveLength(1);
});

/** A reply to which a sound of less than half a second is no turn. */
const startAttentive = () =>
  speakWith((voice) => takeTurns(playPcm)(Object.create(voice, { shortestTurnMs: { value: 500 } })));

test.each([62, 640, 32_000, 200_000])('messages of %i bytes have the same turns', (bytes) => {
  const { log, hear } = startAttentive();
  hear(Buffer.concat([speech(300), silence(1_000), speech(1_000), silence(1_000)]), bytes);
  expect(log).toEqual(['listening', 'turn at 1300', 'turn of 1000 ended at 2300', 'speaking', 'say']);
});

test('a turn can be ended once while it goes on', () => {
  const { log, hear, reply } = startAttentive();
  expect(reply.endTurn?.()).toBe(false);
  hear(speech(300));
  expect(reply.endTurn?.()).toBe(false);
  hear(speech(300));
  expect(reply.endTurn?.()).toBe(true);
  expect(log.slice(1)).toEqual(['turn at 0', 'turn of 600 ended at 600', 'speaking', 'say']);
  expect(reply.endTurn?.()).toBe(false);
});

describe('a reply that is made later', () => {
  const oneTurn = () => Buffer.concat([speech(500), silence(800)]);
  const startLater = () => {
    const answers: Deferred<Playable>[] = [];
    const started = speakWith(
      takeTurns(() => {
        const answer = createDeferred<Playable>();
        answers.push(answer);
        return answer.promise;
      }),
    );
    started.hear(oneTurn());
    started.log.length = 0;
    const settle = async (act: (answer: Deferred<Playable>) => void, at = 0) => {
      act(answers[at]!);
      await answers[at]!.promise.catch(() => {});
      await Promise.resolve();
    };
    return { ...started, settle };
  };
  const pcm = Buffer.of(1, 2);

  test('is said when it is there', async () => {
    const { log, said, settle } = startLater();
    expect(log).toEqual([]);
    await settle(({ resolve }) => resolve(playPcm(pcm)));
    expect(log).toEqual(['speaking', 'say']);
    expect(said).toEqual([pcm]);
  });

  test('is reported if it fails, and the next turn gets its reply', async () => {
    const { log, hear, settle } = startLater();
    await settle(({ reject }) => reject(new Error('model is down')));
    expect(log).toEqual(['failed: model is down']);
    hear(oneTurn());
    await settle(({ resolve }) => resolve(playPcm(pcm)), 1);
    expect(log.slice(-2)).toEqual(['speaking', 'say']);
  });

  test.each([
    ['speaks again', ({ hear }: ReturnType<typeof startLater>) => hear(speech(200))],
    ['is gone', ({ reply }: ReturnType<typeof startLater>) => reply.close?.()],
  ])('is dropped if the user %s first', async (_what, act) => {
    const started = startLater();
    act(started);
    await started.settle(({ resolve }) => resolve(playPcm(pcm)));
    expect(started.log).not.toContain('say');
  });
});
