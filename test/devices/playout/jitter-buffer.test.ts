import { describe, expect, test } from 'vitest';
import { createJitterBuffer, type JitterBuffer } from '../../../src/devices/playout/jitter-buffer.ts';
import { makeMurmur } from '../../helpers/murmur.js';

const rate = 16_000;

/** A second of a tone: frequencies are whole, so that one second is like the next. */
const seconds = new Map<number, Buffer>();

function secondOf(hz: number): Buffer {
  const known = seconds.get(hz);
  if (known !== undefined) return known;
  const samples = Int16Array.from({ length: rate }, (_, i) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * hz * i) / rate)),
  );
  const made = Buffer.from(samples.buffer);
  seconds.set(hz, made);
  return made;
}

/** A tone as s16le, from one moment of it to another, so that pieces join without a seam. */
function tone(fromMs: number, ms: number, hz = 400): Buffer {
  const second = secondOf(hz);
  const pcm = Buffer.alloc(Math.round((ms * rate) / 1000) * 2);
  let from = ((fromMs * rate) / 1000) * 2;
  for (let at = 0; at < pcm.length; ) {
    const copied = second.copy(pcm, at, from % second.length);
    at += copied;
    from += copied;
  }
  return pcm;
}

interface Arrival {
  at: number;
  pcm: Buffer;
}

/** Messages of a service, `ms` of audio every `ms / speed`, each with a lateness; none overtakes another. */
function inTime(totalMs: number, { ms = 20, speed = 1, late = (_: number): number => 0 } = {}): Arrival[] {
  let before = 0;
  return Array.from({ length: Math.floor(totalMs / ms) }, (_, i) => {
    before = Math.max(before, (i * ms) / speed + late(i));
    return { at: before, pcm: tone(i * ms, ms) };
  });
}

interface Heard {
  pcm: Buffer;
  /** How much waited at each frame. */
  waiting: number[];
}

/** Lets a loudspeaker pull a frame every 20 ms of its own clock, from `fromMs` on. */
function listen(
  buffer: JitterBuffer,
  arrivals: readonly Arrival[],
  { untilMs, speed = 1, at = () => {} }: { untilMs: number; speed?: number; at?: (now: number) => void },
): Heard {
  const frames: Buffer[] = [];
  const waiting: number[] = [];
  let next = 0;
  for (let frame = 0; (frame * 20) / speed < untilMs; frame += 1) {
    const now = (frame * 20) / speed;
    for (; next < arrivals.length && arrivals[next]!.at <= now; next += 1) {
      buffer.push(arrivals[next]!.pcm, arrivals[next]!.at);
    }
    at(now);
    frames.push(buffer.pull(now) ?? Buffer.alloc(640));
    waiting.push(buffer.waitingMs);
  }
  return { pcm: Buffer.concat(frames), waiting };
}

const sampleAt = (pcm: Buffer, index: number) => pcm.readInt16LE(index * 2);
const samplesOf = (pcm: Buffer) => new Int16Array(new Uint8Array(pcm).buffer);

/** Milliseconds of silence between the first and the last sound, each stretch of at least 2 ms. */
function gaps(pcm: Buffer): number[] {
  const found: number[] = [];
  let last = -1;
  const samples = samplesOf(pcm);
  for (let i = 0; i < samples.length; i += 1) {
    if (Math.abs(samples[i] ?? 0) <= 400) continue;
    if (last >= 0 && i - last > 32) found.push((i - last) / 16);
    last = i;
  }
  return found;
}

/** The largest step from sample to sample: a tone has none over 4 %, a click has. */
function largestStep(pcm: Buffer): number {
  const samples = samplesOf(pcm);
  let largest = 0;
  for (let i = 1; i < samples.length; i += 1)
    largest = Math.max(largest, Math.abs((samples[i] ?? 0) - (samples[i - 1] ?? 0)));
  return largest;
}

/** How loud a frequency is, 1 for all there is. */
function share(pcm: Buffer, hz: number): number {
  let [cos, sin, all] = [0, 0, 0];
  for (let i = 0; i < pcm.length / 2; i += 1) {
    const value = sampleAt(pcm, i);
    cos += value * Math.cos((2 * Math.PI * hz * i) / rate);
    sin += value * Math.sin((2 * Math.PI * hz * i) / rate);
    all += value * value;
  }
  return (2 * (cos * cos + sin * sin)) / (all * (pcm.length / 2));
}

describe('audio that comes in time', () => {
  test.each([20, 40])('is played %d ms after it came, without a gap', (targetMs) => {
    const buffer = createJitterBuffer({ targetMs });
    const { pcm } = listen(buffer, inTime(2_000), { untilMs: 2_500 });
    const start = Array.from({ length: pcm.length / 2 }, (_, i) => i).find(
      (i) => Math.abs(sampleAt(pcm, i)) > 400,
    )!;
    expect(start / 16).toBeGreaterThanOrEqual(targetMs);
    expect(start / 16).toBeLessThan(targetMs + 5);
    expect(gaps(pcm)).toEqual([]);
    expect(buffer.stats).toEqual({ underruns: 0, flushedMs: 0, overflowMs: 0, skippedMs: 0 });
  });

  test('is played unchanged', () => {
    const arrivals = inTime(2_000).map(({ at, pcm }) => ({ at: at + 10, pcm }));
    const { pcm } = listen(createJitterBuffer(), arrivals, { untilMs: 2_500 });
    expect(share(pcm.subarray(16_000, 48_000), 400)).toBeGreaterThan(0.999);
  });

  test.each([1, 7, 40, 100, 250])('in messages of %d ms also has no gap', (ms) => {
    const buffer = createJitterBuffer();
    const { pcm } = listen(buffer, inTime(3_000, { ms }), { untilMs: 3_500 });
    expect(gaps(pcm)).toEqual([]);
    expect(buffer.stats.underruns).toBe(0);
  });

  test('has the volume that was set', () => {
    const half = listen(createJitterBuffer({ volume: 0.5 }), inTime(500), { untilMs: 500 }).pcm;
    const full = listen(createJitterBuffer(), inTime(500), { untilMs: 500 }).pcm;
    const peak = (pcm: Buffer) =>
      Math.max(...Array.from({ length: pcm.length / 2 }, (_, i) => sampleAt(pcm, i)));
    expect(peak(half) / peak(full)).toBeCloseTo(0.5, 2);
  });

  test('leaves nothing to pull once all of it has been played', () => {
    const buffer = createJitterBuffer();
    expect(buffer.pull(0)).toBeUndefined();
    listen(buffer, inTime(200), { untilMs: 800 });
    expect(buffer.pull(820)).toBeUndefined();
    expect(buffer.stats.underruns).toBe(0);
  });

  test('that is shorter than the delay is also played', () => {
    const { pcm } = listen(createJitterBuffer(), [{ at: 0, pcm: tone(0, 20) }], { untilMs: 500 });
    expect(largestStep(pcm)).toBeGreaterThan(500);
  });
});

describe('jitter', () => {
  test('below the delay is inaudible', () => {
    const buffer = createJitterBuffer({ targetMs: 80 });
    const late = (i: number) => (i % 7 === 3 ? 45 : 0);
    const { pcm } = listen(buffer, inTime(10_000, { late }), { untilMs: 10_500 });
    expect(gaps(pcm)).toEqual([]);
    expect(buffer.stats.underruns).toBe(0);
  });

  test('above it is learnt: the delay grows, and there are no later gaps', () => {
    const buffer = createJitterBuffer();
    const late = (i: number) => (i % 50 === 30 ? 150 : 0);
    let early = 0;
    listen(buffer, inTime(15_000, { late }), {
      untilMs: 15_000,
      at: (now) => {
        if (now <= 5_000) early = buffer.stats.underruns;
      },
    });
    expect(early).toBeGreaterThan(0);
    expect(buffer.stats.underruns).toBeLessThanOrEqual(early + 1);
    expect(buffer.targetMs).toBeGreaterThanOrEqual(160);
  });

  test('that ends is forgotten: the delay shrinks again', () => {
    const buffer = createJitterBuffer();
    const late = (i: number) => (i % 50 === 30 && i < 250 ? 150 : 0);
    const { waiting } = listen(buffer, inTime(60_000, { late }), { untilMs: 60_000 });
    expect(Math.max(...waiting.slice(300, 500))).toBeGreaterThan(120);
    expect(buffer.targetMs).toBe(20);
    expect(Math.max(...waiting.slice(-500))).toBeLessThanOrEqual(130);
  });

  test('that makes a gap is counted once, and concealed without a click', () => {
    const buffer = createJitterBuffer();
    const late = (i: number) => (i >= 50 && i < 60 ? (60 - i) * 20 : 0);
    const { pcm } = listen(buffer, inTime(2_000, { late }), { untilMs: 2_500 });
    expect(buffer.stats.underruns).toBe(1);
    expect(largestStep(pcm)).toBeLessThanOrEqual(1_600);
  });
});

describe('patience', () => {
  test('is limited: after a gap audio waits for at most 400 ms, however late earlier messages came', () => {
    const buffer = createJitterBuffer();
    // The first second comes at once: what follows in real time is a second later than that.
    const early = inTime(4_000, { late: () => 0 }).map(({ at, pcm }) => ({
      at: Math.max(0, at - 1_000),
      pcm,
    }));
    const paused = early.map(({ at, pcm }, i) => ({ at: i < 100 ? at : at + 1_300, pcm }));
    expect(paused[100]!.at - paused[99]!.at).toBeGreaterThan(1_300);
    const { pcm } = listen(buffer, paused, { untilMs: 5_500 });
    expect(buffer.targetMs).toBe(400);
    const resumed = gaps(pcm);
    expect(resumed).toHaveLength(1);
    expect(resumed[0]!).toBeLessThan(1_300 - 1_000 + 400 + 40);
  });

  test.each([
    [280, true],
    [300, false],
  ])('with a pause: %d ms after the last audio the device still gets frames: %s', (afterMs, isGoing) => {
    const buffer = createJitterBuffer();
    buffer.push(tone(0, 200), 0);
    let now = 0;
    for (buffer.pull(now); buffer.waitingMs > 0; buffer.pull(now)) now += 20;
    // The last frame was not whole: the pause has begun.
    const pausedAt = now;
    for (now += 20; now < pausedAt + afterMs; now += 20) buffer.pull(now);
    expect(buffer.pull(now) !== undefined).toBe(isGoing);
  });
});

describe('a service that sends faster than real time', () => {
  test('is played at its own speed, whatever waits', () => {
    const buffer = createJitterBuffer();
    const { pcm, waiting } = listen(buffer, inTime(10_000, { speed: 20 }), { untilMs: 11_000 });
    expect(Math.max(...waiting)).toBeGreaterThan(8_000);
    expect(gaps(pcm)).toEqual([]);
    // One frequency over all of it: a hundredth of a percent of another speed would add half a wave.
    expect(share(pcm.subarray(6_400, 6_400 + 9_000 * 32), 400)).toBeGreaterThan(0.99);
  });

  test('is kept for up to five minutes; the rest is dropped and counted', () => {
    const buffer = createJitterBuffer();
    for (let i = 0; i < 310; i += 1) buffer.push(Buffer.alloc(32_000, 1), i);
    expect(buffer.waitingMs).toBe(300_000);
    expect(buffer.stats.overflowMs).toBe(10_000);
  });

  test('keeps its pauses', () => {
    const buffer = createJitterBuffer();
    const pause = Buffer.alloc(32_000);
    buffer.push(Buffer.concat([tone(0, 1_000), pause, tone(2_000, 1_000)]), 0);
    const { pcm } = listen(buffer, [], { untilMs: 4_000 });
    expect(gaps(pcm).map(Math.round)).toEqual([expect.closeTo(1_000, -1)]);
  });
});

describe('audio that came late', () => {
  test.each([300, 600])(
    'because the device was held up for %d ms is left out within 1.5 s, without a click',
    (heldUpMs) => {
      const buffer = createJitterBuffer();
      const arrivals = inTime(6_000);
      const before = listen(buffer, arrivals.slice(0, 100), { untilMs: 2_000 });
      for (const { at, pcm } of arrivals.slice(100)) if (at < 2_000 + heldUpMs) buffer.push(pcm, at);
      const frames: Buffer[] = [];
      const waiting: number[] = [];
      for (let now = 2_000 + heldUpMs; now < 6_000; now += 20) {
        for (const { at, pcm } of arrivals)
          if (at >= now && at < now + 20 && now > at - 20) buffer.push(pcm, at);
        frames.push(buffer.pull(now) ?? Buffer.alloc(640));
        waiting.push(buffer.waitingMs);
      }
      expect(waiting[10]).toBeGreaterThan(heldUpMs - 60);
      expect(waiting[75]! - before.waiting.at(-1)!).toBeLessThanOrEqual(20);
      expect(buffer.stats.skippedMs).toBeGreaterThan(heldUpMs - 60);
      expect(largestStep(Buffer.concat(frames))).toBeLessThanOrEqual(1_600);
    },
  );

  test('is skipped within 1.5 s, even while the device is corrected repeatedly', () => {
    const buffer = createJitterBuffer();
    const arrivals = inTime(6_000);
    // The device opens 400 ms after the first audio has come.
    for (const { at, pcm } of arrivals) if (at < 400) buffer.push(pcm, at);
    const waiting: number[] = [];
    let nextAt = 400;
    for (const { at, pcm } of arrivals.slice(20)) {
      buffer.push(pcm, at);
      if (at < nextAt) continue;
      buffer.pull(at);
      waiting.push(buffer.waitingMs);
      nextAt += 20;
      // It waits for 100 ms every second, and says so.
      if (waiting.length % 50 !== 49) continue;
      nextAt += 100;
      buffer.leaveOut(100);
    }
    expect(waiting[10]).toBeGreaterThan(350);
    expect(waiting[80]).toBeLessThan(80);
  });

  test('is played in full if the service is ahead of real time, because its audio is meant to wait', () => {
    const buffer = createJitterBuffer();
    for (const { pcm } of inTime(10_000)) buffer.push(pcm, 0);
    for (let now = 0; now < 10_000; now += 20) {
      // The device was held up.
      buffer.pull(now < 2_000 ? now : now + 500);
    }
    expect(buffer.stats.skippedMs).toBe(0);
  });
});

describe('a network gap, after which all delayed audio comes at once', () => {
  const long = 20_000;
  /** Audio in real time but for holes of 500 ms; what does not come within one comes at its end. */
  const withHoles = (voice: (fromMs: number, ms: number) => Buffer, holesAt: readonly number[], ms = 500) =>
    inTime(long).map(({ at }, i) => {
      const hole = holesAt.find((from) => at > from && at < from + ms);
      return { at: hole === undefined ? at : hole + ms, pcm: voice(i * 20, 20) };
    });
  const murmur = makeMurmur(60);
  const murmurOf = (fromMs: number, ms: number) => {
    const from = (fromMs * 32) % murmur.length;
    return murmur.subarray(from, from + ms * 32);
  };
  /** 700 ms of a tone, 300 ms of silence, and again: the hole at 5 s begins in a pause, the one at 5.2 s in the tone. */
  const pausing = (fromMs: number, ms: number) =>
    (fromMs + 100) % 1_000 < 300 ? Buffer.alloc(ms * 32) : tone(fromMs, ms);
  /** The mean of what waits in the second from a moment on. */
  const delayAt = ({ waiting }: Heard, ms: number) =>
    waiting.slice(ms / 20, ms / 20 + 50).reduce((sum, one) => sum + one, 0) / 50;

  test.each([
    ['a tone', tone, 5_200],
    ['a murmur without pauses', murmurOf, 5_200],
    ['speech', pausing, 5_200],
    ['a pause of speech', pausing, 5_000],
  ])('of 500 ms in %s is made up for within seconds, without another gap', (_what, voice, holeAt) => {
    const buffer = createJitterBuffer();
    const skipped: number[] = [];
    const heard = listen(buffer, withHoles(voice, [holeAt]), {
      untilMs: long,
      at: () => skipped.push(buffer.stats.skippedMs),
    });
    const before = delayAt(heard, 3_000);
    expect(delayAt(heard, holeAt + 500)).toBeGreaterThan(before + 150);
    expect(delayAt(heard, holeAt + 4_500) - before).toBeLessThan(50);
    expect(delayAt(heard, holeAt + 8_500) - before).toBeLessThan(20);
    expect(delayAt(heard, 18_000) - before).toBeLessThan(20);
    expect(buffer.stats.underruns).toBe(holeAt === 5_000 ? 0 : 1);
    if (voice === pausing) return;
    // The sound has one gap, and no second of it lost more than 100 ms.
    for (let i = 50; i < skipped.length; i += 1)
      expect(skipped[i]! - skipped[i - 50]!).toBeLessThanOrEqual(100);
    if (voice === tone) {
      expect(gaps(heard.pcm)).toHaveLength(1);
      expect(largestStep(heard.pcm)).toBeLessThanOrEqual(1_600);
    }
  });

  test('of less than 300 ms is made up for in the same way', () => {
    const buffer = createJitterBuffer();
    const heard = listen(buffer, withHoles(tone, [5_200], 250), { untilMs: long });
    const before = delayAt(heard, 3_000);
    expect(delayAt(heard, 5_500)).toBeGreaterThan(before + 100);
    expect(delayAt(heard, 5_200 + 4_000) - before).toBeLessThan(20);
    expect(gaps(heard.pcm)).toHaveLength(1);
  });

  test('lengthens the delay of later replies only if it happens repeatedly', () => {
    const once = createJitterBuffer();
    listen(once, withHoles(tone, [5_200], 250), { untilMs: 26_000 });
    expect(once.targetMs).toBe(20);
    const often = createJitterBuffer();
    listen(often, withHoles(tone, [5_200, 13_200, 21_200], 150), { untilMs: 26_000 });
    expect(often.targetMs).toBeGreaterThan(100);
  });

  test('is distinguished from a service that sends each sentence at once, whose audio is played in full', () => {
    const buffer = createJitterBuffer();
    // Sentences of 2 s and 600 ms in turn, each at once, 700 ms after the one before was heard.
    const sentences: Arrival[] = [];
    for (let at = 0, i = 0; at < long; i += 1) {
      const ms = i % 2 === 0 ? 2_000 : 600;
      sentences.push({ at, pcm: tone(at, ms) });
      at += ms + 700;
    }
    listen(buffer, sentences, { untilMs: long });
    expect(buffer.stats.skippedMs).toBe(0);
  });

  test('is distinguished from a service that pauses, whose audio and delay do not change', () => {
    const buffer = createJitterBuffer();
    // Real time, 2 s of tone with silence at its end, and then nothing for 700 ms.
    const paused = inTime(14_000).map(({ at }, i) => ({
      at: at + Math.floor(i / 100) * 700,
      pcm: i % 100 > 80 ? Buffer.alloc(640) : tone(i * 20, 20),
    }));
    const { waiting } = listen(buffer, paused, { untilMs: long });
    expect(buffer.stats).toMatchObject({ skippedMs: 0, underruns: 0 });
    expect(buffer.targetMs).toBe(20);
    expect(Math.max(...waiting)).toBeLessThanOrEqual(60);
  });

  test('is distinguished from another reply, which may be ahead', () => {
    const buffer = createJitterBuffer();
    const first = inTime(5_000);
    const second = inTime(5_000).map(({ at, pcm }) => ({ at: 7_000 + Math.max(0, at - 1_000), pcm }));
    listen(buffer, [...first, ...second], { untilMs: long });
    expect(buffer.stats.skippedMs).toBe(0);
  });
});

describe('a gap in a reply', () => {
  const holeOf = (ms: number, before = tone(0, 1_000)) => {
    const buffer = createJitterBuffer();
    const arrivals = [
      { at: 0, pcm: before },
      { at: 1_000 + ms, pcm: tone(0, 500) },
    ];
    listen(buffer, arrivals, { untilMs: 4_000 });
    return buffer.stats.underruns;
  };

  test.each([100, 320, 700, 1_400])('of %d ms is counted', (ms) => {
    expect(holeOf(ms)).toBe(1);
  });

  test('that is longer than a reply may pause is its end', () => {
    expect(holeOf(2_000)).toBe(0);
  });

  test('that follows silence is a pause', () => {
    expect(holeOf(700, Buffer.concat([tone(0, 900), Buffer.alloc(3_200)]))).toBe(0);
  });
});

describe('a device that was held up and then needs much audio at once', () => {
  test('causes a gap, which does not lengthen the delay', () => {
    const buffer = createJitterBuffer();
    const arrivals = inTime(12_000);
    let next = 0;
    const pull = (now: number) => {
      for (; next < arrivals.length && arrivals[next]!.at <= now; next += 1) {
        buffer.push(arrivals[next]!.pcm, arrivals[next]!.at);
      }
      buffer.pull(now);
    };
    for (let now = 0; now < 2_000; now += 20) pull(now);
    // Its queue is empty: it takes three frames more.
    for (let extra = 0; extra < 3; extra += 1) pull(1_981);
    for (let now = 2_000; now < 12_000; now += 20) pull(now);
    expect(buffer.stats.underruns).toBe(1);
    expect(buffer.heldMs).toBeLessThanOrEqual(20);
  });
});

describe('an interruption', () => {
  const interrupt = (onInterruption: (buffer: JitterBuffer, now: number) => void) => {
    const buffer = createJitterBuffer();
    // At 1 s, and 10 ms later, it is far from zero.
    buffer.push(tone(0, 10_000, 445), 0);
    const { pcm } = listen(buffer, [{ at: 2_000, pcm: tone(0, 500) }], {
      untilMs: 3_000,
      at: (now) => {
        if (now === 1_000) onInterruption(buffer, now);
      },
    });
    return { buffer, pcm };
  };

  test('leaves nothing to pull, not even a fade, and later audio is played', () => {
    const { buffer, pcm } = interrupt(({ flush }) => flush());
    expect(buffer.stats).toMatchObject({ underruns: 0, flushedMs: expect.closeTo(9_060, -2) });
    // Nor is the next reply preceded by what a filter still held.
    expect(pcm.subarray(1_000 * 32, 2_010 * 32).every((byte) => byte === 0)).toBe(true);
    expect(share(pcm.subarray(2_100 * 32, 2_400 * 32), 400)).toBeGreaterThan(0.99);
  });

  test('can end with a last frame that continues the audio and is silent after 10 ms', () => {
    let last: Buffer = Buffer.alloc(0);
    const { buffer, pcm } = interrupt(({ fadeOut }, now) => {
      last = fadeOut(now)!;
    });
    expect(last.length).toBe(640);
    expect(largestStep(Buffer.concat([pcm.subarray(900 * 32, 1_000 * 32), last]))).toBeLessThan(1_450);
    expect(largestStep(last)).toBeGreaterThan(1_000);
    expect(last.subarray(10 * 32).every((byte) => byte === 0)).toBe(true);
    expect(pcm.subarray(1_000 * 32, 2_000 * 32).every((byte) => byte === 0)).toBe(true);
    expect(buffer.fadeOut(10_000)).toBeUndefined();
  });
});

describe('the end', () => {
  test('is played without waiting for more', () => {
    const buffer = createJitterBuffer();
    buffer.push(tone(0, 100), 0);
    buffer.end();
    expect(buffer.pull(0)?.some((byte) => byte !== 0)).toBe(true);
    let now = 20;
    for (; buffer.pull(now) !== undefined; now += 20);
    expect(now).toBeLessThanOrEqual(200);
  });
});

describe('a message that comes while nothing is pulled', () => {
  test.each([
    ['loud', 1_499, 1],
    ['loud', 1_500, 0],
    ['silent', 299, 1],
    ['silent', 300, 0],
  ])('after %s audio, %d ms after the buffer ran dry: %d underruns', (loudness, lateMs, underruns) => {
    const buffer = createJitterBuffer();
    buffer.push(loudness === 'loud' ? tone(0, 200) : Buffer.alloc(6_400), 0);
    let dryAt = 0;
    for (buffer.pull(dryAt); buffer.waitingMs > 0; buffer.pull(dryAt)) dryAt += 20;
    buffer.push(tone(0, 20), dryAt + lateMs);
    expect(buffer.stats.underruns).toBe(underruns);
  });
});

describe('minutes of playback, and clocks that differ by 0.2 %', () => {
  test.each([
    ['the service is fast', 1.002],
    ['the service is slow', 0.998],
  ])('%s: the delay does not grow, and nothing is dropped', (_, speed) => {
    const buffer = createJitterBuffer();
    // The clocks part by 200 ms: the delay of 150 ms would have grown, or run out.
    const totalMs = 100_000;
    const second = tone(0, 1_000);
    let [least, most, loudest] = [Number.POSITIVE_INFINITY, 0, 0];
    let [sent, step, before] = [0, 0, 0];
    let silent = 0;
    for (let now = 0; now < totalMs; now += 20) {
      for (; (sent * 20) / speed <= now; sent += 1) {
        const at = (sent % 50) * 640;
        buffer.push(second.subarray(at, at + 640), (sent * 20) / speed);
      }
      const frame = buffer.pull(now)!;
      if (now < 10_000) continue;
      least = Math.min(least, buffer.waitingMs);
      most = Math.max(most, buffer.waitingMs);
      let peak = 0;
      const samples = samplesOf(frame);
      for (let i = 0; i < samples.length; i += 1) {
        const value = samples[i] ?? 0;
        peak = Math.max(peak, Math.abs(value));
        step = Math.max(step, i === 0 && now === 10_000 ? 0 : Math.abs(value - before));
        before = value;
      }
      loudest = Math.max(loudest, peak);
      if (peak < 7_500) silent += 1;
    }
    expect(buffer.stats).toEqual({ underruns: 0, flushedMs: 0, overflowMs: 0, skippedMs: 0 });
    expect(least).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(150);
    // Not one of 4,500 frames has a hole, and no sample is further from the next than in the tone itself.
    expect({ silent, loudest }).toEqual({ silent: 0, loudest: expect.closeTo(8_000, -2) });
    expect(step).toBeLessThanOrEqual(1_300);
  });
});
