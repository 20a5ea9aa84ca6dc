import { describe, expect, test } from 'vitest';
import { PaceCheck } from '../../../src/audio/verdict/pace-check.ts';

/** A check that takes messages of 20 ms, each so long after the one before; `lostMs` of that the emulator did not run. */
function createTimeline() {
  const own = { lostMs: 0 };
  const check = new PaceCheck(own);
  let now = 1_000;
  const later = (ms: number, lostMs = 0) => {
    now += ms;
    own.lostMs += lostMs;
    check.push(640, now);
  };
  const regularly = (count: number, everyMs = 20) => {
    for (let index = 0; index < count; index += 1) later(everyMs);
  };
  later(0);
  return { check, later, regularly };
}

const steady = {
  times: 1,
  isEven: true,
  slowerPart: 1,
  ...{ passedMs: 2_000, timesRealTime: 1, uncertainty: 0, meanJitterMs: 0, longestGapMs: 20 },
  ...{ burstMessages: 0, messages: 101, lostMs: 0, lateMs: 0 },
};

describe('the pace of a device', () => {
  test('in real time is 1', () => {
    const { check, regularly } = createTimeline();
    regularly(100);
    expect(check.report()).toEqual(steady);
    expect(check.latestReport()).toEqual(steady);
  });

  test('is not known before two seconds', () => {
    const { check, later, regularly } = createTimeline();
    regularly(99);
    later(19.98);
    expect(check.report()).toMatchObject({ passedMs: 1_999.98, timesRealTime: null, uncertainty: 1 });
    later(20);
    expect(check.report().timesRealTime).toBe(1);
  });

  test.each([
    [10, 2],
    [16, 1.25],
    [40, 0.5],
  ])('with a message every %d ms is %d', (everyMs, timesRealTime) => {
    const { check, regularly } = createTimeline();
    regularly(250, everyMs);
    expect(check.report()).toMatchObject({ timesRealTime, meanJitterMs: Math.abs(everyMs - 20) });
  });

  test.each([
    ['a second that was kept back', 50, 200, 1],
    ['two seconds that were kept back', 100, 1_000, 1],
    ['nothing kept back', 0, 200, 1],
  ])('is real time in its slower part after %s', (_what, atOnce, then, slowerPart) => {
    const { check, regularly } = createTimeline();
    regularly(atOnce, 0);
    regularly(then);
    const { times, ...report } = check.report();
    expect(report.slowerPart).toBeCloseTo(slowerPart, 1);
    expect(times > 1.05).toBe(atOnce > 0);
  });

  test.each([51, 100, 149])('is the same in both parts where a gap follows message %d', (count) => {
    const { check, later, regularly } = createTimeline();
    regularly(count, 16);
    later(416);
    regularly(25, 0);
    regularly(174 - count, 16);
    expect(check.report().slowerPart).toBeCloseTo(1.25, 1);
  });

  test('without any audio is 0', () => {
    const check = new PaceCheck({ lostMs: 0 });
    for (let now = 0; now <= 1_900; now += 1) check.push(0, now);
    check.push(0, 2_000);
    expect(check.report()).toMatchObject({ timesRealTime: 0, times: 0 });
  });

  test('counts the audio of all messages but the last', () => {
    const check = new PaceCheck({ lostMs: 0 });
    check.push(32_000, 0);
    check.push(64_000, 1_000);
    check.push(640, 3_000);
    expect(check.report()).toMatchObject({ timesRealTime: 1, meanJitterMs: 0, lateMs: 0, messages: 3 });
  });

  test('is measured again after it was forgotten', () => {
    const { check, regularly } = createTimeline();
    regularly(200, 10);
    check.forget();
    expect(check.latestReport()).toMatchObject({
      passedMs: 0,
      messages: 1,
      longestGapMs: 0,
      meanJitterMs: 0,
    });
    regularly(100);
    expect(check.latestReport()).toEqual(steady);
    expect(check.report()).toMatchObject({ passedMs: 4_000, messages: 301, timesRealTime: 1.5 });
  });
});

describe('a delay', () => {
  test('counts as a gap, as lateness and in the jitter', () => {
    const { check, later, regularly } = createTimeline();
    regularly(50);
    later(120);
    regularly(5, 0);
    regularly(100);
    expect(check.report()).toMatchObject({
      ...{ passedMs: 3_120, longestGapMs: 120, lateMs: 100, messages: 157, burstMessages: 6 },
      // 100 ms late, then five messages that are 20 ms early each, in 156 intervals.
      meanJitterMs: 1.28,
      // 3 × 100² / 3,120².
      uncertainty: 0.0031,
      timesRealTime: 1,
    });
  });

  test('of 60 ms is not late, and hardly makes the pace uncertain', () => {
    const { check, later, regularly } = createTimeline();
    later(80);
    regularly(96);
    expect(check.report()).toMatchObject({ lateMs: 0, longestGapMs: 80, uncertainty: 0.0027 });
    later(80.01);
    expect(check.report()).toMatchObject({ lateMs: 60.01 });
  });

  test('that comes repeatedly makes the pace as uncertain as the longest one', () => {
    const { check, later, regularly } = createTimeline();
    for (let index = 0; index < 10; index += 1) {
      later(220);
      regularly(10, 0);
    }
    // 200 / 2,200, and the line through the messages is worse.
    expect(check.report()).toMatchObject({ passedMs: 2_200, uncertainty: 0.0909, timesRealTime: 1 });
    later(220);
    regularly(9, 0);
    later(30);
    expect(check.report()).toMatchObject({ passedMs: 2_450, uncertainty: 0.0816 });
  });

  test('in which the emulator did not run is not a gap', () => {
    const { check, later, regularly } = createTimeline();
    regularly(50);
    later(320, 300);
    regularly(50);
    expect(check.report()).toMatchObject({ longestGapMs: 20, lostMs: 300, lateMs: 300 });
    later(320, 100);
    expect(check.report()).toMatchObject({ longestGapMs: 220, lostMs: 400 });
  });

  test('is no longer than the time between two messages', () => {
    const { check, later } = createTimeline();
    later(20, 300);
    later(20);
    expect(check.report()).toMatchObject({ longestGapMs: 20, lostMs: 20 });
  });
});

describe('messages that arrive together', () => {
  /** How many count as a burst, of so many that are so far apart. */
  const burst = (count: number, everyMs: number, lostMs = 0) => {
    const { check, later, regularly } = createTimeline();
    later(300, lostMs);
    regularly(count - 1, everyMs);
    return [check.report().burstMessages, check.latestReport().burstMessages];
  };

  test.each([
    [4, 0, 0],
    [5, 0, 5],
    [6, 0, 6],
    [20, 1.99, 20],
    [20, 2, 0],
  ])('%d of them, %d ms apart: %d are a burst', (count, everyMs, messages) => {
    expect(burst(count, everyMs)).toEqual([messages, messages]);
  });

  test('are not a burst if they waited for the emulator', () => {
    expect(burst(20, 0, 10)).toEqual([0, 0]);
  });

  test('are a burst again after the next pause', () => {
    const { check, later, regularly } = createTimeline();
    later(300, 300);
    regularly(9, 0);
    later(300);
    regularly(9, 0);
    expect(check.report().burstMessages).toBe(10);
  });

  test('are counted from the first one on, each time', () => {
    const { check, later, regularly } = createTimeline();
    for (let index = 0; index < 3; index += 1) {
      later(100);
      regularly(4, 0);
    }
    expect(check.report().burstMessages).toBe(15);
  });
});
