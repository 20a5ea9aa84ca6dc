import { describe, expect, test } from 'vitest';
import type { ScriptedClip } from '../../../src/audio/dialogue/dialogue.ts';
import { findSounds } from '../../../src/audio/dialogue/find-sounds.ts';
import { judgeDialogue } from '../../../src/audio/dialogue/judge-dialogue.ts';
import type { SideLevels } from '../../../src/audio/dialogue/step-levels.ts';
import { bytesForMs } from '../../../src/protocol/audio-format.ts';
import { measureSteps } from '../../helpers/pcm.ts';

type Span = readonly [startMs: number, endMs: number];

/** A track with a tone in each span; it swells and dies away within 30 ms, unless it is cut at its end. */
function track(lengthMs: number, spans: readonly Span[], cuts: readonly number[] = []): SideLevels {
  const pcm = Buffer.alloc(bytesForMs(lengthMs));
  for (const [startMs, endMs] of spans) {
    for (let at = startMs * 16; at < endMs * 16; at += 1) {
      const fall = cuts.includes(endMs) ? 1 : (endMs * 16 - at) / 480;
      const gain = Math.min(1, (at - startMs * 16 + 1) / 480, fall) ** 2;
      pcm.writeInt16LE(Math.round(9_000 * gain * Math.sin(at * 0.13)), at * 2);
    }
  }
  return measureSteps(pcm);
}

interface Call {
  lengthMs?: number;
  user: readonly Span[];
  ai: readonly Span[];
  cuts?: readonly number[];
  clips?: readonly ScriptedClip[];
  stops?: readonly number[];
  unjudged?: string;
}

function judge({ lengthMs = 12_000, user, ai, cuts, clips, stops = [], unjudged }: Call) {
  return judgeDialogue({
    user: track(lengthMs, user),
    ai: track(lengthMs, ai, cuts),
    ...{ clips, stops, waitMs: 5_000, unjudged },
  });
}

const clip = (turn: number, [startMs, endMs]: Span, isTurn = true): ScriptedClip => ({
  turn,
  isTurn,
  startMs: startMs - 50,
  endMs: endMs + 50,
});
const nearly = (ms: number) => expect.closeTo(ms, -1.3);

describe('a turn', () => {
  test('with a reply has a response time', () => {
    const { turns, figures } = judge({ user: [[500, 1_500]], ai: [[2_100, 3_000]] });
    expect(turns).toEqual([
      expect.objectContaining({
        responseMs: nearly(600),
        reply: 'answered',
        interruption: null,
        talkOverMs: 0,
      }),
    ]);
    expect(figures.talkShare).toEqual({ user: expect.closeTo(0.4, 1), ai: expect.closeTo(0.36, 1) });
    expect(figures.silenceMs).toEqual(nearly(600));
  });

  test('of one clip continues after a pause, and its reply may be early', () => {
    const call = {
      user: [
        [500, 1_500],
        [2_800, 3_500],
      ] as Span[],
      ai: [[2_300, 4_000]] as Span[],
    };
    expect(judge({ ...call, clips: [clip(1, [500, 3_500])] }).turns).toEqual([
      expect.objectContaining({ earlyMs: nearly(1_200), responseMs: null, talkOverMs: nearly(1_200) }),
    ]);
    expect(judge(call).turns).toHaveLength(2);
  });

  test('without a reply in time is unanswered, or open if the session ends first', () => {
    expect(judge({ user: [[500, 1_500]], ai: [] }).turns[0]?.reply).toBe('unanswered');
    expect(judge({ lengthMs: 4_000, user: [[500, 1_500]], ai: [] }).turns[0]?.reply).toBe('open');
  });

  test('without a reply is counted among the unanswered ones', () => {
    const user: Span[] = [
      [500, 1_500],
      [8_000, 9_000],
    ];
    const { figures } = judge({ lengthMs: 16_000, user, ai: [[2_000, 3_000]] });
    expect(figures).toMatchObject({ unanswered: 1, repliesLost: null });
  });

  test.each([
    [12_000, 'open'],
    [16_000, 'unanswered'],
  ])(
    'into which the AI talks on waits for its reply only from then on: after %i ms it is %s',
    (lengthMs, reply) => {
      const user: Span[] = [
        [500, 1_500],
        [3_000, 4_000],
      ];
      expect(judge({ lengthMs, user, ai: [[2_000, 10_000]] }).turns[1]?.reply).toBe(reply);
    },
  );

  test('loses its reply if a sound that is not a turn comes in between', () => {
    const { turns, figures } = judge({
      user: [
        [500, 1_500],
        [1_800, 2_100],
      ],
      ai: [],
      clips: [clip(1, [500, 1_500]), clip(2, [1_800, 2_100], false)],
    });
    expect(turns[0]?.reply).toBe('lost');
    expect(figures.repliesLost).toBe(1);
  });
});

describe('an interruption', () => {
  const user: Span[] = [
    [500, 1_500],
    [3_000, 4_000],
  ];

  test('makes the AI yield if its audio is cut', () => {
    const { turns, overlaps } = judge({ user, ai: [[2_000, 3_400]], cuts: [3_400] });
    expect(turns[1]).toMatchObject({
      interruption: 'yielded',
      yieldMs: nearly(400),
      talkOverMs: nearly(400),
    });
    expect(overlaps).toHaveLength(1);
  });

  test('makes the AI yield if the service says so, however the audio ends', () => {
    const { turns } = judge({ user, ai: [[2_000, 3_400]], stops: [3_410] });
    expect(turns[1]).toMatchObject({ interruption: 'yielded' });
  });

  test('makes the AI yield if its audio falls, but is loud when it ends', () => {
    const pcm = Buffer.alloc(bytesForMs(12_000));
    for (let at = 2_000 * 16; at < 3_400 * 16; at += 1) {
      const gain = at < 3_380 * 16 ? 1 : 0.45;
      pcm.writeInt16LE(Math.round(9_000 * gain * Math.sin(at * 0.13)), at * 2);
    }
    const { turns } = judgeDialogue({
      user: track(12_000, user),
      ai: measureSteps(pcm),
      stops: [],
      waitMs: 5_000,
    });
    expect(turns[1]).toMatchObject({ interruption: 'yielded', yieldMs: nearly(400) });
  });

  test('has no yield if the AI ends by itself, or goes on', () => {
    expect(judge({ user, ai: [[2_000, 3_400]] }).turns[1]).toMatchObject({
      interruption: 'ended',
      yieldMs: null,
    });
    expect(judge({ user, ai: [[2_000, 7_000]] }).turns[1]).toMatchObject({
      interruption: 'never-yields',
      yieldMs: null,
    });
  });

  test('by a short sound is a remark without a script', () => {
    const { remarks } = judge({
      user: [
        [500, 1_500],
        [3_000, 3_300],
      ],
      ai: [[2_000, 3_400]],
      cuts: [3_400],
    });
    expect(remarks).toEqual([{ atMs: nearly(3_000), text: expect.stringContaining('stops the AI') }]);
  });
});

describe('a sound that is not a turn', () => {
  const user: Span[] = [
    [500, 1_500],
    [3_000, 3_300],
  ];
  const clips = [clip(1, [500, 1_500]), clip(2, [3_000, 3_300], false)];

  test('changes nothing if the reply goes on', () => {
    const { noises, figures } = judge({ user, clips, ai: [[2_000, 6_000]] });
    expect(noises).toEqual([expect.objectContaining({ stoppedAtMs: null, answeredAtMs: null })]);
    expect(figures).toMatchObject({ falseInterruptions: 0, answersNoise: 0, talkOverMs: 0 });
    expect(figures.overlapMs).toEqual(nearly(300));
  });

  test('is a false interruption if the AI stops and resumes', () => {
    const { noises } = judge({
      user,
      clips,
      ai: [
        [2_000, 3_500],
        [5_000, 6_000],
      ],
      cuts: [3_500],
    });
    expect(noises).toEqual([
      expect.objectContaining({
        stoppedAtMs: nearly(3_500),
        resumedAfterMs: nearly(1_500),
        answeredAtMs: null,
      }),
    ]);
  });

  test('interrupts a reply that is cut two seconds later only if a longer hold is expected', () => {
    const stopWith = (holdMs: number | undefined) => {
      const held = clips.map((one) => ({ ...one, ...(one.isTurn ? {} : { holdMs }) }));
      return judge({ user, clips: held, ai: [[2_000, 5_000]], cuts: [5_000] }).noises[0]?.stoppedAtMs;
    };
    expect(stopWith(3_000)).toEqual(nearly(5_000));
    expect(stopWith(undefined)).toBeNull();
  });

  test('does not interrupt a reply that ends by itself', () => {
    expect(judge({ user, clips, ai: [[2_000, 3_500]] }).noises[0]?.stoppedAtMs).toBeNull();
  });

  test('gets a reply if the AI was silent and then speaks', () => {
    const late: Span[] = [
      [500, 1_500],
      [5_000, 5_300],
    ];
    const { noises } = judge({
      user: late,
      clips: [clip(1, [500, 1_500]), clip(2, [5_000, 5_300], false)],
      ai: [
        [2_000, 3_000],
        [6_300, 7_000],
      ],
    });
    expect(noises[0]?.answeredAtMs).toEqual(nearly(6_300));
  });

  test('gets no reply if the next turn comes before the AI speaks', () => {
    const spans: Span[] = [
      [500, 1_500],
      [5_000, 5_300],
      [5_600, 6_200],
    ];
    const { noises } = judge({
      user: spans,
      clips: spans.map((span, index) => clip(index + 1, span, index !== 1)),
      ai: [
        [2_000, 3_000],
        [6_800, 7_500],
      ],
    });
    expect(noises[0]?.answeredAtMs).toBeNull();
  });
});

test('two voices that cannot be judged have no turns, but a reason', () => {
  const speech: Span[] = [
    [500, 1_500],
    [2_500, 3_100],
    [5_000, 5_900],
  ];
  const later = speech.map(([startMs, endMs]): Span => [startMs + 60, endMs + 60]);
  const { unjudged, turns } = judge({ user: speech, ai: later, unjudged: 'a reason' });
  expect(unjudged).toBe('a reason');
  expect(turns).toEqual([]);
});

describe('with an audible background', () => {
  /** Sounds of a tone of this gain in each span, over a tone 35 dB below 9,000. */
  const hummed = (
    lengthMs: number,
    spans: readonly (readonly [startMs: number, endMs: number, gain: number])[],
  ) => {
    const pcm = Buffer.alloc(bytesForMs(lengthMs));
    for (let at = 0; at < lengthMs * 16; at += 1) {
      const gain = spans.find(([from, to]) => at >= from * 16 && at < to * 16)?.[2] ?? 0;
      pcm.writeInt16LE(Math.round(160 * Math.sin(at * 1.7) + gain * Math.sin(at * 0.13)), at * 2);
    }
    return findSounds(measureSteps(pcm));
  };

  test('a side that hardly speaks is not mistaken for one that never stops', () => {
    expect(hummed(20_000, [[5_000, 5_600, 9_000]])).toEqual([
      { startMs: nearly(5_000), endMs: nearly(5_600) },
    ]);
  });

  test('soft speech belongs to a sound near it, but is not a sound by itself', () => {
    expect(
      hummed(20_000, [
        [5_000, 7_000, 9_000],
        [7_200, 7_400, 500],
        [12_000, 12_200, 500],
      ]),
    ).toEqual([
      { startMs: nearly(5_000), endMs: nearly(7_000) },
      { startMs: nearly(7_200), endMs: nearly(7_400) },
    ]);
  });

  /** Noise whose power is mostly in low bands, with high or low tones that begin and end at once. */
  const rumbled = (spans: readonly (readonly [startMs: number, endMs: number, step: number])[]) => {
    const pcm = Buffer.alloc(bytesForMs(12_000));
    let [state, low] = [1, 0];
    for (let at = 0; at < pcm.length / 2; at += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      const white = state / 2 ** 30 - 1;
      low = 0.9 * low + 90 * white;
      const step = spans.find(([from, to]) => at >= from * 16 && at < to * 16)?.[2];
      pcm.writeInt16LE(
        Math.round(low + 40 * white + (step === undefined ? 0 : 1_800 * Math.sin(at * step))),
        at * 2,
      );
    }
    return findSounds(measureSteps(pcm));
  };

  /** A clip with a tone from 500 to 900 ms, and noise of this gain from `from` to `to`. */
  const short = (from: number, to: number, gain: number) => {
    const pcm = Buffer.alloc(bytesForMs(3_000));
    let state = 1;
    for (let at = from * 16; at < to * 16; at += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      const tone = at >= 500 * 16 && at < 900 * 16 ? 5_000 * Math.sin(at * 0.13) : 0;
      pcm.writeInt16LE(Math.round(gain * (state / 2 ** 30 - 1) + tone), at * 2);
    }
    return findSounds(measureSteps(pcm));
  };

  test.each([60, 100, 140, 180, 250])('of %d ms around it, a short clip begins and ends without it', (ms) => {
    for (const gain of [60, 180])
      expect(short(500 - ms, 900 + ms, gain)).toEqual([{ startMs: nearly(500), endMs: nearly(900) }]);
  });

  test('on one side only, it is a soft sound of a short clip', () => {
    expect(short(500, 1_000, 180)).toEqual([{ startMs: 500, endMs: 1_000 }]);
  });

  test('that varies, a sound begins and ends where its bands do', () => {
    const sounds = rumbled([
      [3_000, 3_500, 2],
      [6_000, 6_400, 0.13],
    ]);
    const within = (ms: number) => expect.closeTo(ms, -1.3);
    expect(sounds).toEqual([
      { startMs: within(3_000), endMs: within(3_500) },
      { startMs: within(6_000), endMs: within(6_400) },
    ]);
  });
});
