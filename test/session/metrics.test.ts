import { describe, expect, test } from 'vitest';
import { measureLevel } from '../../src/audio/level.ts';
import { createMetrics } from '../../src/session/metrics.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';

/** Metrics of a session in which each frame of 20 ms left when it was due. */
function measure() {
  const metrics = createMetrics({ settleMs: 1_500 });
  let now = 0;
  return {
    metrics,
    get now() {
      return now;
    },
    send(...parts: Buffer[]) {
      for (const frame of framesOf(Buffer.concat(parts))) {
        metrics.sent(frame, now);
        now += 20;
      }
    },
    hear(at: number, pcm = speech(20)) {
      metrics.received(pcm.length, measureLevel(pcm), at);
    },
  };
}

describe('first audio', () => {
  test('is the time from the last frame of speech to the first AI audio', () => {
    const { metrics, send, hear } = measure();
    send(silence(400), speech(1_000), silence(1_000));
    // The last frame with speech left at 1,380.
    hear(2_000);
    hear(2_020);
    expect(metrics.snapshot().firstAudioMs).toBe(620);
    expect(metrics.replyBegunAt).toBe(2_000);
  });

  test('counts a reply that came while the gate still waited for the pause', () => {
    const { metrics, send, hear } = measure();
    send(silence(400), speech(1_000), silence(100));
    hear(1_430);
    expect(metrics.replyBegunAt).toBeUndefined();
    send(silence(900));
    expect(metrics.snapshot().firstAudioMs).toBe(50);
    expect(metrics.replyBegunAt).toBe(1_430);
  });

  test('is not the one of the last reply while the user speaks again', () => {
    const { metrics, send, hear } = measure();
    send(silence(400), speech(1_000), silence(1_000));
    hear(2_420);
    send(speech(400));
    expect(metrics.replyBegunAt).toBeUndefined();
  });

  test('does not count audio before the end of speech', () => {
    const { metrics, send, hear } = measure();
    send(silence(400), speech(500));
    hear(880);
    send(speech(500), silence(1_000));
    expect(metrics.snapshot().firstAudioMs).toBeNull();
    hear(2_500);
    expect(metrics.snapshot().firstAudioMs).toBe(2_500 - 1_380);
  });

  test('of an echo is the round trip of the last frame of speech', () => {
    const { metrics } = measure();
    let now = 0;
    for (const frame of framesOf(Buffer.concat([silence(400), speech(1_000), silence(1_000)]))) {
      metrics.sent(frame, now);
      metrics.received(frame.length, measureLevel(frame), now + 8);
      now += 20;
    }
    expect(metrics.snapshot().firstAudioMs).toBe(8);
  });

  test.each([4, 2, 1, 0.7, 0.25, 0.05])('of an echo is the same at a pace of %d', (pace) => {
    const { metrics } = measure();
    let now = 0;
    for (const frame of framesOf(Buffer.concat([silence(400), speech(1_000), silence(1_000)]))) {
      metrics.sent(frame, now);
      metrics.received(frame.length, measureLevel(frame), now + 0.4);
      now += 20 / pace;
    }
    expect(metrics.snapshot().firstAudioMs).toBe(0.4);
  });

  test('is the one of the last turn if there are several', () => {
    const { metrics, send, hear } = measure();
    send(silence(400), speech(600), silence(1_000));
    hear(1_900);
    send(speech(600), silence(1_000));
    // The second turn left from 2,000 to 2,580.
    hear(3_700);
    expect(metrics.snapshot().firstAudioMs).toBe(1_120);
  });

  test('is known for speech that stops with the source, once the source has ended', () => {
    const { metrics, send, hear } = measure();
    send(silence(400), speech(1_000));
    hear(1_500);
    expect(metrics.snapshot().firstAudioMs).toBeNull();
    expect(metrics.finishSpeech()).toEqual([
      { type: 'speech-end', atMs: 1_400, leftAt: 1_380, reason: 'ended' },
    ]);
    expect(metrics.snapshot().firstAudioMs).toBe(120);
    expect(metrics.finishSpeech()).toEqual([]);
  });

  test('is null if nobody spoke, even if a reply has begun', () => {
    const { metrics, send, hear } = measure();
    send(silence(1_000));
    hear(1_100);
    expect(metrics.snapshot().firstAudioMs).toBeNull();
    expect(metrics.replyBegunAt).toBe(1_100);
  });

  test('is null if no AI audio came', () => {
    const { metrics, send } = measure();
    send(silence(400), speech(1_000), silence(1_000));
    expect(metrics.snapshot().firstAudioMs).toBeNull();
    expect(metrics.replyBegunAt).toBeUndefined();
  });

  test('is not begun by an empty message', () => {
    const { metrics, hear } = measure();
    hear(100, Buffer.alloc(0));
    expect(metrics.replyBegunAt).toBeUndefined();
    expect(metrics.snapshot().in).toEqual({ frames: 1, bytes: 0, audioMs: 0 });
  });
});

describe('jitter and gaps', () => {
  test('are the deviation of arrivals from the audio between them, and the longest time between two', () => {
    const { metrics, hear } = measure();
    for (const at of [0, 20, 45, 60, 100, 110]) hear(at);
    // Between them 20, 25, 15, 40 and 10 ms, each after 20 ms of audio.
    expect(metrics.snapshot().jitterMs).toEqual({ p50: 5, p95: 20, max: 20 });
    expect(metrics.snapshot().longestGapMs).toBe(40);
  });

  test('are measured by the length of the previous message', () => {
    const { metrics, hear } = measure();
    hear(0, speech(100));
    hear(100, speech(10));
    hear(110, speech(10));
    expect(metrics.snapshot().jitterMs?.max).toBe(0);
    expect(metrics.snapshot().longestGapMs).toBe(100);
  });

  test('do not span the pause between two replies', () => {
    const { metrics, hear } = measure();
    for (const at of [0, 20, 1_519, 3_019, 3_039]) hear(at);
    expect(metrics.snapshot().longestGapMs).toBe(1_499);
  });

  test('do not span the end of speech: the AI falls silent when it hears the user, and replies again', () => {
    const { metrics, send, hear } = measure();
    send(silence(400));
    for (const at of [300, 320, 340, 370]) hear(at);
    // Speech leaves from 400 to 1,380.
    send(speech(1_000), silence(1_000));
    for (const at of [1_800, 1_820]) hear(at);
    expect(metrics.snapshot()).toMatchObject({ longestGapMs: 30, jitterMs: { max: 10 } });
  });

  test('do not span an end of speech that is known only later', () => {
    const { metrics, send, hear } = measure();
    send(silence(400), speech(960));
    hear(1_300);
    send(speech(40), silence(100));
    // The reply begins before the gate has told that the speech has ended at 1,380.
    for (const at of [1_440, 1_460, 1_490]) hear(at);
    send(silence(900));
    expect(metrics.snapshot()).toMatchObject({ longestGapMs: 30, firstAudioMs: 60 });
  });

  test('are also measured while an echo overlaps the user', () => {
    const { metrics } = measure();
    let now = 0;
    for (const frame of framesOf(Buffer.concat([silence(400), speech(4_000)]))) {
      metrics.sent(frame, now);
      metrics.received(frame.length, measureLevel(frame), now + (now === 2_000 ? 15 : 0));
      now += 20;
    }
    expect(metrics.snapshot()).toMatchObject({ longestGapMs: 35, jitterMs: { max: 15 } });
  });

  test('are lengthened by a pause of this process only as far as it changes the figure', () => {
    const pausedMs = (from: number, until: number) => (from < 500 && until > 500 ? 400 : 0);
    const metrics = createMetrics({ settleMs: 1_500, pausedMs });
    const pcm = speech(20);
    const hear = (at: number) => metrics.received(pcm.length, measureLevel(pcm), at);
    // Each message is 60 ms late, as the service sent them; one of 100 waited for this process too.
    for (let at = 0, count = 0; count < 100; count += 1) {
      hear(at);
      at += 80 + (at < 500 && at + 80 > 500 ? 400 : 0);
    }
    const { jitterMs, longestGapMs } = metrics.pausedMs();
    expect(metrics.snapshot().jitterMs?.p95).toBeCloseTo(60, 0);
    expect([Math.round(jitterMs), longestGapMs]).toEqual([0, 400]);
  });

  test('are null if there are no two messages', () => {
    const { metrics, hear } = measure();
    hear(0);
    expect(metrics.snapshot()).toMatchObject({ jitterMs: null, longestGapMs: null, sendLatenessMs: null });
  });
});

describe('what is counted', () => {
  test('are messages, bytes and audio in each direction, including odd sizes', () => {
    const { metrics, send, hear } = measure();
    send(silence(60));
    for (const bytes of [1, 3, 640]) hear(0, Buffer.alloc(bytes));
    expect(metrics.snapshot()).toMatchObject({
      out: { frames: 3, bytes: 1_920, audioMs: 60 },
      in: { frames: 3, bytes: 644, audioMs: 20.125 },
    });
  });

  test('is how late frames were sent', () => {
    const { metrics } = measure();
    for (let ms = 0; ms < 100; ms += 1) metrics.sentLate(ms);
    const { p50, p95, max } = metrics.snapshot().sendLatenessMs!;
    // A histogram of three digits.
    expect([p50, p95, max].map(Math.round)).toEqual([49, 94, 99]);
  });

  test('is when AI audio was last audible, and how much was: not silence', () => {
    const { metrics, hear } = measure();
    hear(10);
    hear(30, silence(20));
    expect(metrics.snapshot()).toMatchObject({ audibleMs: 20, in: { audioMs: 40 } });
    expect(metrics.lastAudibleAt).toBe(10);
  });

  test('is what a listener heard of the AI until an interruption', () => {
    const { metrics, hear } = measure();
    hear(0, speech(1_000));
    expect([999, 1_000].map(metrics.wasHeardAt)).toEqual([true, false]);
    metrics.interrupted(300);
    expect([299, 300].map(metrics.wasHeardAt)).toEqual([true, false]);
    metrics.interrupted(900);
    expect([299, 300].map(metrics.wasHeardAt)).toEqual([true, false]);
  });

  test('does not get slower with the audio that arrives while the gate is open', () => {
    const { metrics, send, hear } = measure();
    send(silence(400), speech(1_000));
    const tiny = Buffer.alloc(2);
    for (let i = 0; i < 200_000; i += 1) hear(1_400 + i / 200, tiny);
    metrics.finishSpeech();
    expect(metrics.snapshot().in.frames).toBe(200_000);
  });
});
