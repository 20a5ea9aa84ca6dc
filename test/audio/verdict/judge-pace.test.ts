import { describe, expect, test } from 'vitest';
import {
  judgePace,
  judgeReplyRate,
  judgeVoiceRate,
  type VoiceFacts,
} from '../../../src/audio/verdict/judge-pace.ts';
import type { PaceMeasure } from '../../../src/audio/verdict/span.ts';

type Measured = Partial<PaceMeasure> & VoiceFacts;

const steady: PaceMeasure = {
  ...{ timesRealTime: 1, meanJitterMs: 0, longestGapMs: 20, burstMessages: 0, messages: 100 },
  ...{ passedMs: 2_000, uncertainty: 0, lostMs: 0, lateMs: 0, times: 1, isEven: true },
  // Sent evenly, unless a test says otherwise.
  slowerPart: 10,
};

/** The findings and remarks; undefined where more time would tell. */
function judge({ sizes = 1, scale, ...measured }: Measured) {
  const { judged, isSure } = judgePace(
    { ...steady, ...measured },
    { sizes, ...(scale === undefined ? {} : { scale }) },
  );
  const told = judged.map(({ finding, remark }) => `${finding}: ${remark}`);
  return isSure ? told : ['unsure', ...told];
}

const sends = (times: number) =>
  `${times > 1 ? 'too-fast' : 'too-slow'}: the device sends at ${times} × real time`;
/** How far 16 kHz would be off to look like another rate. */
const off: Record<string, string> = {
  ...{ '48 kHz': 'too fast', '44.1 kHz': 'too fast', '32 kHz, 16 kHz stereo': 'too fast' },
  ...{ '24 kHz': 'too fast', '22.05 kHz': 'too fast', '12 kHz': 'too slow' },
  ...{ '11.025 kHz': 'too slow', '8 kHz': 'too slow' },
  ...{ '44.1 kHz stereo': 'too fast', '48 kHz stereo': 'too fast' },
};
const looksLike = (times: number, format: string) =>
  `wrong-rate: this looks like ${format}, or 16 kHz sent ${off[format]} (${times} × real time): send 16 kHz mono, one 640-byte message every 20 ms`;

describe('a pace', () => {
  test.each<[string, Measured, string[]]>([
    ['that is not known yet', { timesRealTime: null, longestGapMs: 900 }, ['unsure']],
    ['of real time', {}, []],
    ['at the lower bound', { timesRealTime: 0.95 }, []],
    ['at the upper bound', { timesRealTime: 1.05 }, []],
    ['below it', { timesRealTime: 0.94 }, [sends(0.94)]],
    ['above it', { timesRealTime: 1.06 }, [sends(1.06)]],
    ['above it because some came at once', { timesRealTime: 1.14, slowerPart: 1.06 }, ['unsure']],
    ['above it unevenly', { timesRealTime: 1.14, isEven: false, passedMs: 3_499 }, ['unsure']],
    ['above it unevenly for longer', { timesRealTime: 1.14, isEven: false, passedMs: 3_500 }, [sends(1.14)]],
    ['far above it in one part', { timesRealTime: 2.5, slowerPart: 1.1 }, [sends(2.5)]],
    ['above it in both parts', { timesRealTime: 1.14, slowerPart: 1.08 }, [sends(1.14)]],
    ['above it in one part of ten seconds', { timesRealTime: 1.14, slowerPart: 1, passedMs: 10_000 }, []],
    [
      'above it in both parts of wide samples',
      { timesRealTime: 2.5, slowerPart: 2.3, sizes: 2 },
      [sends(1.25)],
    ],
    ['of wide samples that partly came at once', { timesRealTime: 2.5, slowerPart: 2, sizes: 2 }, ['unsure']],
    ['of wide samples in real time', { timesRealTime: 2, sizes: 2 }, []],
    ['of wide samples in real time of bytes', { timesRealTime: 1, sizes: 2 }, []],
    ['of wide samples that is too fast', { timesRealTime: 2.5, sizes: 2 }, [sends(1.25)]],
    ['of wide samples that is too slow', { timesRealTime: 1.2, sizes: 2, lateMs: 300 }, [sends(0.6)]],
    ['of wide samples at 48 kHz', { timesRealTime: 6, sizes: 2 }, [looksLike(6, '48 kHz')]],
  ])('%s', (_what, measured, told) => {
    expect(judge(measured)).toEqual(told);
  });

  test.each<[string, Measured, string[]]>([
    [
      'is explained by a gap',
      { timesRealTime: 0.9, longestGapMs: 501 },
      ['gaps: a gap of 501 ms between messages'],
    ],
    ['is not explained by a shorter one', { timesRealTime: 0.9, longestGapMs: 500 }, [sends(0.9)]],
    ['is left open where the emulator did not run', { timesRealTime: 0.9, lostMs: 100 }, ['unsure']],
    ['is told where that explains less than half', { timesRealTime: 0.9, lostMs: 99 }, [sends(0.9)]],
    ['is left open where messages were late', { timesRealTime: 0.9, lateMs: 100 }, ['unsure']],
    [
      'is told where messages were late for ten seconds',
      { timesRealTime: 0.9, lateMs: 600, passedMs: 10_000 },
      [sends(0.9)],
    ],
    [
      'is left open where the emulator did not run for much of ten seconds',
      { timesRealTime: 0.9, lostMs: 600, passedMs: 10_000 },
      ['unsure'],
    ],
  ])('that is slow %s', (_what, measured, told) => {
    expect(judge(measured)).toEqual(told);
  });

  test('that is fast has no excuse', () => {
    expect(judge({ timesRealTime: 1.2, longestGapMs: 600, lostMs: 500, lateMs: 500 })).toEqual([
      sends(1.2),
      'gaps: a gap of 600 ms between messages',
    ]);
  });

  test.each<[string, Measured, string[]]>([
    ['is left open', { timesRealTime: 1.06, uncertainty: 0.01 }, ['unsure']],
    ['is left open of wide samples', { timesRealTime: 2.12, uncertainty: 0.01, sizes: 2 }, ['unsure']],
    ['is told where it is known better', { timesRealTime: 1.06, uncertainty: 0.005 }, [sends(1.06)]],
    ['is left open below too', { timesRealTime: 0.94, uncertainty: 0.02 }, ['unsure']],
    ['is told below too', { timesRealTime: 0.94, uncertainty: 0.005 }, [sends(0.94)]],
  ])('that may be real time %s', (_what, measured, told) => {
    expect(judge(measured)).toEqual(told);
  });
});

describe('a pace that looks like a sample rate', () => {
  test.each([
    [3, '48 kHz'],
    [2.76, '44.1 kHz'],
    [2, '32 kHz, 16 kHz stereo'],
    [1.5, '24 kHz'],
    [1.38, '22.05 kHz'],
    [0.75, '12 kHz'],
    [0.69, '11.025 kHz'],
    [0.5, '8 kHz'],
    [5.51, '44.1 kHz stereo'],
    [6, '48 kHz stereo'],
    [3.05, '48 kHz'],
    [2.95, '48 kHz'],
  ])('%d × real time: %s', (timesRealTime, format) => {
    expect(judge({ timesRealTime })).toEqual([looksLike(timesRealTime, format)]);
  });

  test.each<[string, Measured, string[]]>([
    ['is more than 2 % away', { timesRealTime: 3.07 }, [sends(3.07)]],
    ['is less than 2 % away from none', { timesRealTime: 1.7 }, [sends(1.7)]],
    [
      'is not known well, and within twice that',
      { timesRealTime: 3.15, uncertainty: 0.03 },
      [looksLike(3.15, '48 kHz')],
    ],
    ['is known hardly', { timesRealTime: 3, uncertainty: 0.041 }, ['unsure']],
    ['is known just well enough', { timesRealTime: 3, uncertainty: 0.04 }, [looksLike(3, '48 kHz')]],
    [
      'is known hardly after ten seconds',
      { timesRealTime: 3, uncertainty: 0.05, passedMs: 10_000 },
      [looksLike(3, '48 kHz')],
    ],
  ])('that %s', (_what, measured, told) => {
    expect(judge(measured)).toEqual(told);
  });
});

test.each<[string, Measured, string[]]>([
  [
    'four of five messages in bursts',
    { burstMessages: 80 },
    ['bursts: 80 messages arrived in bursts: spread them over time'],
  ],
  ['fewer', { burstMessages: 79 }, []],
  ['a gap of half a second', { longestGapMs: 500 }, []],
  ['a longer one', { longestGapMs: 500.6 }, ['gaps: a gap of 501 ms between messages']],
  [
    'all at once',
    { timesRealTime: 3, burstMessages: 100, longestGapMs: 700 },
    [
      looksLike(3, '48 kHz'),
      'bursts: 100 messages arrived in bursts: spread them over time',
      'gaps: a gap of 700 ms between messages',
    ],
  ],
  [
    'bursts, where the rate is left open',
    { timesRealTime: 1.06, uncertainty: 0.01, burstMessages: 90 },
    ['unsure', 'bursts: 90 messages arrived in bursts: spread them over time'],
  ],
])('%s: %j', (_what, measured, told) => {
  expect(judge(measured)).toEqual(told);
});

describe('a rate on which pace and voice agree', () => {
  test.each<[string, Measured, boolean]>([
    ['is certain', { timesRealTime: 1.5, scale: 1.5 }, true],
    ['is certain where the voice is a little off', { timesRealTime: 1.5, scale: 1.33 }, true],
    ['is doubtful where the voice is in between', { timesRealTime: 1.5, scale: 1.32 }, false],
    ['is doubtful where the voice sounds right', { timesRealTime: 2, scale: 1 }, false],
    ['is doubtful where there is no voice', { timesRealTime: 2 }, false],
    ['is certain where it is slow', { timesRealTime: 0.5, scale: 0.6 }, true],
    ['is doubtful near 16 kHz unless the voice is well off', { timesRealTime: 0.75, scale: 0.79 }, false],
  ])('%s', (_what, { scale, ...measured }, isCertain) => {
    const { judged } = judgePace({ ...steady, ...measured }, { scale });
    const found = judged.map(({ finding, isDoubtful }) => [finding, isDoubtful !== true]);
    expect(found).toEqual([['wrong-rate', isCertain]]);
  });
});

describe('the rate of a reply', () => {
  test('with two explanations has advice for each', () => {
    const judged = judgeReplyRate({ ...steady, times: 1.5 }, {});
    expect(judged?.advice).toBe(
      'if the voice sounds 1.5 × too slow, resample it to 16 kHz; if it sounds right, devices must store what comes early, so send it in real time, or let devices buffer a whole reply',
    );
  });

  const both = 'the service’s audio is 24 kHz, or 16 kHz sent too fast: it arrives at 1.5 × real time';
  test.each<[string, Measured, [isDoubtful: boolean, remark: string] | undefined]>([
    [
      'is certain where pace and voice agree',
      { times: 1.5, scale: 1.45 },
      [
        false,
        'the service’s audio is 24 kHz: it arrives at 1.5 × real time, and the voice sounds 1.5 × too slow',
      ],
    ],
    ['has two readings without the voice', { times: 1.5 }, [true, both]],
    ['has two readings where the voice sounds right', { times: 1.5, scale: 1.05 }, [true, both]],
    ['has two readings where the reply is short', { times: 1.5, scale: 1.5, passedMs: 1_500 }, [true, both]],
    ['is not known where it is shorter', { times: 1.5, scale: 1.5, passedMs: 1_499 }, undefined],
    ['is not known where the first part came at once', { times: 1.5, scale: 1.5, isEven: false }, undefined],
    ['is not known where half of it came at once', { times: 1.5, scale: 1.5, slowerPart: 1 }, undefined],
    ['is not that of another pace', { times: 1.6, scale: 1.5 }, undefined],
    ['is right in real time', { times: 1 }, undefined],
    ['is right for wide samples', { times: 2, sizes: 2 }, undefined],
  ])('%s', (_what, { sizes, scale, ...measured }, found) => {
    const judged = judgeReplyRate({ ...steady, ...measured }, { sizes, scale } as VoiceFacts);
    expect(judged && [judged.isDoubtful === true, judged.remark]).toEqual(found);
  });

  test.each([
    [1.84, undefined],
    [1.86, 'the service’s audio is 32 kHz, or 16 kHz stereo, or an unusual voice: it sounds 1.86 × too slow'],
    [0.5, 'the service’s audio is 8 kHz, or an unusual voice: it sounds 2 × too fast'],
    [undefined, undefined],
  ])('is recognised from a voice of %s alone', (scale, remark) => {
    expect(judgeVoiceRate(scale)?.remark).toBe(remark);
  });
});
