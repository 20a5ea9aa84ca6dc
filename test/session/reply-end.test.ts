import { describe, expect, test } from 'vitest';
import type { Metrics } from '../../src/session/metrics.ts';
import { waitForReplyEnd } from '../../src/session/talk.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';

/** A wait for a reply of which a test says when it began and was last heard. */
function wait({ waitMs = 1_000, settleMs = 500 } = {}) {
  const clock = createCountedClock();
  const ending = new AbortController();
  const paused = { until: -Infinity };
  const voice = { at: -Infinity };
  const heard: { replyBegunAt: number | undefined; lastAudibleAt: number | undefined } = {
    replyBegunAt: undefined,
    lastAudibleAt: undefined,
  };
  let result: { outcome: string; at: number } | undefined;
  const waiting = waitForReplyEnd({
    clock,
    metrics: heard as Metrics,
    waitMs,
    settleMs,
    pausedUntil: () => paused.until,
    voicedAt: () => voice.at,
    signal: ending.signal,
  }).then((outcome) => {
    result = { outcome, at: clock.now() };
  });
  waiting.catch(() => {});
  return { clock, ending, heard, paused, voice, waiting, result: () => result };
}

describe('the wait for a reply', () => {
  test('is over when none has begun in the given time', async () => {
    const { clock, result } = wait();
    await clock.run(2_000, 10);
    expect(result()).toEqual({ outcome: 'none', at: 1_000 });
    expect(clock.pending).toEqual([]);
  });

  test('is over at once if the given time is 0', async () => {
    const { clock, result, waiting } = wait({ waitMs: 0 });
    await waiting;
    expect([result()?.outcome, clock.now()]).toEqual(['none', 0]);
  });

  test('is over when the reply has paused for the settle time', async () => {
    const { clock, heard, result } = wait();
    await clock.run(900, 10);
    heard.replyBegunAt = 890;
    for (let at = 900; at < 3_000; at += 100) {
      heard.lastAudibleAt = at;
      await clock.run(100, 10);
    }
    expect(result()).toBeUndefined();
    await clock.run(1_000, 10);
    expect(result()).toEqual({ outcome: 'ended', at: 2_900 + 500 });
  });

  test('is over at once if the reply has already ended', async () => {
    const { clock, ending, heard, waiting } = wait();
    ending.abort(new Error('another'));
    await expect(waiting).rejects.toThrow('another');
    clock.advance(5_000);
    heard.replyBegunAt = 100;
    heard.lastAudibleAt = 2_000;
    const outcome = waitForReplyEnd({
      clock,
      metrics: heard as Metrics,
      waitMs: 1_000,
      settleMs: 500,
      pausedUntil: () => -Infinity,
      voicedAt: () => 2_000,
      signal: new AbortController().signal,
    });
    expect(await outcome).toBe('ended');
  });

  test('continues while reading is paused, because audio may be waiting', async () => {
    const { clock, heard, paused, result } = wait();
    heard.replyBegunAt = 100;
    heard.lastAudibleAt = 200;
    for (let at = 0; at < 3_000; at += 100) {
      await clock.run(100, 10);
      paused.until = clock.now();
    }
    expect(result()).toBeUndefined();
    await clock.run(1_000, 10);
    expect(result()).toEqual({ outcome: 'ended', at: 3_000 + 500 });
  });

  test.each([
    ['in a reply without speech', -Infinity, 1_000],
    ['after the last speech', 45_000, 45_000],
  ])('is over 30 s later if only audible background goes on %s', async (_what, spokenUntil, overFrom) => {
    const { clock, heard, voice, result } = wait();
    heard.replyBegunAt = 0;
    for (let at = 0; at < 90_000; at += 100) {
      heard.lastAudibleAt = at;
      if (at <= spokenUntil) voice.at = at;
      await clock.run(100, 10);
    }
    expect(result()).toEqual({ outcome: 'background', at: overFrom + 30_000 + 500 });
    expect(clock.pending).toEqual([]);
  });

  test('goes on as long as a reply is spoken', async () => {
    const { clock, heard, voice, result } = wait();
    heard.replyBegunAt = 0;
    for (let at = 0; at < 60_000; at += 100) {
      heard.lastAudibleAt = at;
      voice.at = at;
      await clock.run(100, 10);
    }
    expect(result()).toBeUndefined();
    await clock.run(1_000, 10);
    expect(result()).toEqual({ outcome: 'ended', at: 59_900 + 500 });
  });

  test('hears a reply whole that begins late, after silence of the service', async () => {
    const { clock, heard, result } = wait({ waitMs: 60_000 });
    heard.replyBegunAt = 0;
    await clock.run(35_000, 10);
    for (let at = 35_000; at <= 36_000; at += 20) {
      heard.lastAudibleAt = at;
      await clock.run(20, 10);
    }
    await clock.run(1_000, 10);
    expect(result()).toEqual({ outcome: 'ended', at: 36_000 + 500 });
  });

  test('is over soon after a long reply whose last word ends softly', async () => {
    const { clock, heard, voice, result } = wait();
    heard.replyBegunAt = 0;
    for (let at = 0; at <= 45_200; at += 100) {
      heard.lastAudibleAt = at;
      if (at <= 45_000) voice.at = at;
      await clock.run(100, 10);
    }
    await clock.run(1_000, 10);
    expect(result()).toEqual({ outcome: 'ended', at: 45_200 + 500 });
  });

  test('rejects with the signal’s reason, and leaves no timer', async () => {
    const { clock, ending, waiting } = wait();
    ending.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(clock.pending).toEqual([]);
  });
});
