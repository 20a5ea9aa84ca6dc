import { describe, expect, test } from 'vitest';
import { measureLevel } from '../../../src/audio/level.ts';
import { ReplyMeter } from '../../../src/runs/load/reply-meter.ts';
import { Pauses, Tally } from '../../../src/runs/load/tally.ts';
import { createMetrics } from '../../../src/session/metrics.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { speechPcm } from '../../helpers/device-audio.ts';
import { framesOf, silence, speech } from '../../helpers/pcm.ts';

const settleMs = 1_500;
/** The user speaks for a second from 400 ms on: the last frame with speech leaves at 1,380 ms. */
const speechEndedAt = 1_380;
const said = framesOf(Buffer.concat([silence(400), speech(1_000), silence(5_000)]));

/** What arrives from the service: AI audio of so many milliseconds, or that it was interrupted. */
type Arrival = { at: number; ms: number } | { at: number; interrupted: true };

const evenly = (from: number, count: number, ms = 20): Arrival[] =>
  Array.from({ length: count }, (_, index) => ({ at: from + index * ms, ms }));

function bySession(arrivals: readonly Arrival[]) {
  const metrics = createMetrics({ settleMs });
  const left = [...arrivals];
  for (const [index, frame] of said.entries()) {
    const now = index * 20;
    metrics.sent(frame, now);
    while (left[0] !== undefined && left[0].at < now + 20) {
      const arrival = left.shift() as Arrival;
      if ('interrupted' in arrival) metrics.interrupted(arrival.at);
      else {
        const pcm = speech(arrival.ms);
        metrics.received(pcm.length, measureLevel(pcm), arrival.at);
      }
    }
  }
  metrics.finishSpeech();
  const { firstAudioMs, longestGapMs, jitterMs } = metrics.snapshot();
  return { firstAudioMs, longestGapMs, worstJitterMs: jitterMs?.max ?? null };
}

function byLoad(arrivals: readonly Arrival[]) {
  const tally = new Tally();
  const meter = new ReplyMeter(tally, settleMs);
  const left = [...arrivals];
  const hearUntil = (until: number) => {
    while (left[0] !== undefined && left[0].at < until) {
      const arrival = left.shift() as Arrival;
      if ('interrupted' in arrival) meter.interrupted(arrival.at);
      else {
        const payload = speech(arrival.ms);
        meter.hear(payload.length, arrival.at, { payload });
      }
    }
  };
  hearUntil(speechEndedAt);
  meter.expect(speechEndedAt);
  hearUntil(Infinity);
  meter.endReply();
  const { finished } = tally.flush();
  const worst = (times: readonly number[] = []) => (times.length === 0 ? null : Math.max(...times) / 1000);
  return {
    firstAudioMs: worst(finished['first-audio']),
    longestGapMs: worst(finished.gap),
    worstJitterMs: worst(finished.jitter),
  };
}

describe('load and session measure the same', () => {
  test.each<[what: string, arrivals: Arrival[], measured: ReturnType<typeof bySession>]>([
    ['nothing of no reply', [], { firstAudioMs: null, longestGapMs: null, worstJitterMs: null }],
    [
      'of an uneven reply',
      [...evenly(1_800, 10), { at: 2_075, ms: 40 }, { at: 2_090, ms: 20 }],
      { firstAudioMs: 420, longestGapMs: 95, worstJitterMs: 75 },
    ],
    [
      'of empty messages among others',
      [
        { at: 1_700, ms: 0 },
        { at: 1_800, ms: 20 },
        { at: 1_815, ms: 0 },
        { at: 1_822, ms: 20 },
      ],
      { firstAudioMs: 420, longestGapMs: 22, worstJitterMs: 2 },
    ],
    [
      'of a greeting that the user speaks over',
      [...evenly(200, 20), { at: 700, ms: 20 }, ...evenly(1_500, 2)],
      { firstAudioMs: 120, longestGapMs: 120, worstJitterMs: 100 },
    ],
    [
      'not what lies before the end of speech and after it',
      [{ at: 1_300, ms: 20 }, ...evenly(1_600, 2)],
      { firstAudioMs: 220, longestGapMs: 20, worstJitterMs: 0 },
    ],
    [
      'not the pause between two replies',
      [...evenly(1_800, 3), ...evenly(3_400, 3)],
      { firstAudioMs: 420, longestGapMs: 20, worstJitterMs: 0 },
    ],
    [
      'not the pause after an interruption',
      [...evenly(1_800, 3), { at: 1_850, interrupted: true }, ...evenly(2_600, 3)],
      { firstAudioMs: 420, longestGapMs: 20, worstJitterMs: 0 },
    ],
  ])('%s', (_what, arrivals, measured) => {
    expect(bySession(arrivals)).toEqual(measured);
    // A jitter of nothing is kept as a microsecond.
    const close = (value: number | null) => (value === null ? null : expect.closeTo(value, 1));
    expect(byLoad(arrivals)).toEqual({
      firstAudioMs: close(measured.firstAudioMs),
      longestGapMs: close(measured.longestGapMs),
      worstJitterMs: close(measured.worstJitterMs),
    });
  });
});

test('hears whole samples if messages end within one', () => {
  const tally = new Tally();
  const meter = new ReplyMeter(tally, settleMs);
  meter.expect(0);
  // Samples of 1: of the second byte of one and the first byte of the next there would be 256.
  meter.hear(1, 10, { payload: Buffer.from([1]) });
  meter.hear(640, 20, { payload: Buffer.alloc(640, Buffer.from([0, 1])) });
  meter.giveUp(500);
  expect(tally.flush()).toMatchObject({ unfinished: { response: [500_000] } });
});

test.each([
  ['is cut off if the service pauses', 0, 'cut-off at 2.48 s'],
  ['is not cut off if this process does not run in the meantime', 2_000, undefined],
])('a reply that stops for two seconds in the middle of a sound %s', async (_, stopMs, found) => {
  const counted = createCountedClock();
  let stoppedMs = 0;
  const clock = { ...counted, now: () => counted.now() + stoppedMs };
  const pauses = new Pauses(clock);
  const meter = new ReplyMeter(new Tally(pauses), settleMs, 'findings');
  for (const [index, payload] of framesOf(speechPcm).entries()) {
    if (index === 125) {
      stoppedMs += stopMs;
      await counted.run(2_000 - stopMs);
    }
    meter.hear(payload.length, clock.now(), { payload });
    await counted.run(20);
  }
  await counted.run(3_000);
  const unclean = meter.uncleanAt(clock.now());
  if (found === undefined) expect(unclean).toBeUndefined();
  else expect(unclean).toContain(found);
  pauses.stop();
});
