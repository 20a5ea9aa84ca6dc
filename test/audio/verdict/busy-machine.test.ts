import { describe, expect, test } from 'vitest';
import { ListenerBudget } from '../../../src/audio/verdict/listener-budget.ts';
import { VoiceCheck } from '../../../src/audio/verdict/voice-check.ts';
import { speechPcm } from '../../helpers/device-audio.ts';

/** A stall: nothing is handled from `at` for `ms`, and then everything at once. */
interface Stall {
  at: number;
  ms: number;
}
interface Sending {
  /** Samples a second of the device. */
  rate?: number;
  seconds?: number;
  stalls?: Stall[];
  /** Whether the emulator itself stalls, and knows. */
  own?: boolean;
  /** Whether the device loses its audio in a stall, instead of sending it later. */
  loses?: boolean;
  frameBytes?: number;
  /** Whether it is listened to as well. Its pace is judged in any case. Default: it is not. */
  isHeard?: boolean;
}

const busy = (everyMs: number, ms: number, seconds = 60): Stall[] =>
  Array.from({ length: Math.floor((seconds * 1_000) / everyMs) }, (_, index) => ({
    at: 137 + index * everyMs + ((index * 7_919) % 97),
    ms: ms * (0.5 + ((index * 31) % 11) / 10),
  }));

/** Listens to nobody: others have taken all places. */
const full = new ListenerBudget();
while (full.acquire() !== undefined);

const audio = Buffer.concat(Array.from({ length: 8 }, () => speechPcm));

/** What is said of the pace of a device while it runs, in order, and at its end. */
function run({
  rate = 16_000,
  seconds = 12,
  stalls = [],
  own = false,
  loses = false,
  frameBytes = 640,
  isHeard = false,
}: Sending) {
  let now = 0;
  const lost = { lostMs: 0 };
  const budget = isHeard ? undefined : full;
  const check = new VoiceCheck({ from: 'device', clock: { now: () => now }, own: lost, budget });
  const told: string[][] = [];
  const everyMs = (frameBytes / 32) * (16_000 / rate);
  let skippedMs = 0;
  let over = 0;
  for (let index = 0; index * everyMs < seconds * 1_000; index += 1) {
    const sent = index * everyMs + skippedMs;
    for (const { at, ms } of stalls) {
      if (over > at || sent < at || sent >= at + ms) continue;
      over = at + ms;
      if (own) lost.lostMs += ms;
      if (loses) skippedMs += over - sent;
    }
    now = Math.max(sent, over, now + 0.05);
    const offset = (index * frameBytes) % (audio.length - frameBytes);
    check.push(audio.subarray(offset, offset + frameBytes));
    if (!check.isDue) continue;
    const verdict = check.judgePace();
    if (verdict !== undefined) told.push(verdict.remarks);
  }
  return { told, atEnd: check.verdict().remarks };
}

const afterWell = { told: [[]], atEnd: [] };

describe('a device in real time gets no remark', () => {
  test.each<[string, Sending]>([
    ['with one delay of 140 ms as the first verdict is due', { stalls: [{ at: 1_900, ms: 140 }] }],
    ['with one delay of 400 ms at the start', { stalls: [{ at: 5, ms: 400 }], isHeard: true }],
    ['with one delay of 400 ms as the first verdict is due', { stalls: [{ at: 1_700, ms: 400 }] }],
    ['on a machine that is late by 100 ms four times a second', { stalls: busy(250, 100) }],
    ['on a machine that is late by 250 ms twice a second', { stalls: busy(500, 250), isHeard: true }],
    ['that keeps two seconds back, and then sends them at once', { stalls: [{ at: 0, ms: 2_000 }] }],
    ['that keeps two seconds back, for half a minute', { stalls: [{ at: 0, ms: 2_000 }], seconds: 30 }],
    ['that keeps two seconds back, and is late later', { stalls: [{ at: 0, ms: 2_000 }, ...busy(500, 150)] }],
    ['that stands still for 400 ms and catches up', { stalls: [{ at: 3_990, ms: 400 }], seconds: 30 }],
    ['that keeps half a second back, and stops early', { stalls: [{ at: 0, ms: 500 }], seconds: 5 }],
    ['of an emulator that stands still for 900 ms', { stalls: [{ at: 3_000, ms: 900 }], own: true }],
    ['of an emulator that is late all the time', { stalls: busy(200, 150), own: true }],
    [
      'that loses what it recorded while the whole machine stood still',
      {
        stalls: [{ at: 1_200, ms: 300 }],
        own: true,
        loses: true,
      },
    ],
    ['whose clock is 2 % fast, with delays', { rate: 16_320, stalls: busy(500, 100) }],
    ['in messages of 100 ms, with delays', { frameBytes: 3_200, stalls: busy(700, 120) }],
  ])('%s', (_, sending) => {
    const { told, atEnd } = run(sending);
    expect(told.flat()).toEqual([]);
    expect(atEnd).toEqual([]);
  });

  test('and has nothing wrong', () => {
    expect(run({ stalls: busy(500, 60) })).toEqual(afterWell);
  });
});

describe('a sample rate is recognised', () => {
  const delays: [string, Stall[]][] = [
    ['without delays', []],
    ['with one delay of 100 ms as the first verdict is due', [{ at: 1_930, ms: 100 }]],
    ['with one delay of 300 ms at the start', [{ at: 3, ms: 300 }]],
    ['on a machine that is late by 60 ms five times a second', busy(200, 60)],
    ['on a machine that is late by 200 ms twice a second', busy(500, 200)],
  ];
  const rates: [number, string][] = [
    [44_100, '44.1 kHz'],
    [48_000, '48 kHz'],
    [43_700, '44.1 kHz'],
    [48_400, '48 kHz'],
    [32_000, '32 kHz, 16 kHz stereo'],
    [24_000, '24 kHz'],
    [8_000, '8 kHz'],
    [88_200, '44.1 kHz stereo'],
  ];
  /** Rates that are near each other with every delay, the others with the worst one. */
  const delaysOf = (rate: number) =>
    rate > 40_000 && rate < 50_000 ? delays : [...delays.slice(0, 1), ...delays.slice(-1)];
  test.each(
    rates.flatMap(([rate, words]) =>
      delaysOf(rate).map(([how, stalls]) => [rate, words, how, stalls] as const),
    ),
  )('at %d samples a second: %s, %s', (rate, words, _how, stalls) => {
    // How the voice sounds is heard too where nothing else is in the way: it may not be reported as faults of the voice.
    const isHeard = stalls.length === 0;
    const { told, atEnd } = run({ rate, stalls, seconds: isHeard ? 8 : 15, isHeard });
    const seen = told.flat().filter((remark) => !remark.includes('arrived in bursts'));
    expect(seen).toEqual([expect.stringContaining(`looks like ${words}, or 16 kHz`)]);
    expect(atEnd).toContainEqual(expect.stringContaining(`looks like ${words}, or 16 kHz`));
  });
});

describe('a wrong pace is reported in spite of delays', () => {
  test.each([0.8, 0.9, 1.1, 1.15, 1.7])('of %d × real time', (times) => {
    const { told } = run({ rate: 16_000 * times, stalls: busy(500, 60), seconds: 15 });
    expect(told).toHaveLength(1);
    expect(Number(/sends at ([\d.]+) ×/.exec(told.flat()[0] ?? '')?.[1])).toBeCloseTo(times, 1);
  });

  test.each<[string, Sending]>([
    ['after a second that was kept back', { stalls: [{ at: 0, ms: 1_000 }] }],
    ['with a hole of 500 ms', { stalls: [{ at: 1_000, ms: 500 }] }],
    ['with a hole of 500 ms at the middle', { stalls: [{ at: 5_700, ms: 500 }] }],
    ['for three seconds', { seconds: 3 }],
  ])('of 1.12 × real time %s', (_, sending) => {
    const { told, atEnd } = run({ rate: 17_920, ...sending });
    if (sending.seconds === undefined)
      expect(told.flat()).toContainEqual(expect.stringMatching(/sends at 1\.[1-4]/));
    expect(atEnd).toContainEqual(expect.stringMatching(/sends at 1\.[1-4]/));
  });

  test('of a device that repeatedly loses audio', () => {
    const { told } = run({ stalls: busy(1_000, 200), loses: true, seconds: 25 });
    expect(told.flat()).toEqual([expect.stringMatching(/^the device sends at 0\.8\d? × real time$/)]);
  });
});
