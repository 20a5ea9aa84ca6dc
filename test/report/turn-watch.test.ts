import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTwoTracks } from '../../src/audio/dialogue/two-tracks.ts';
import { loadPcm } from '../../src/audio/wav/wav-source.ts';
import { dialogueMarks } from '../../src/report/dialogue-lines.ts';
import { addTurnNews, createTurnWatch, type SeenTurns } from '../../src/report/turn-watch.ts';

const fixture = (name: string) => loadPcm(join(import.meta.dirname, '..', '..', 'fixtures', `${name}.wav`));

interface Said {
  name: string;
  fromMs: number;
  /** Cut off after so long. */
  forMs?: number;
  isTurn?: boolean;
}

/** Both sides play in frames of 20 ms in real time; what is seen is asked for each half second. */
async function watch(user: readonly Said[], ai: readonly Said[], untilMs: number) {
  const [live, whole] = [createTurnWatch(10_000), createTwoTracks()];
  const sides = await Promise.all(
    [user, ai].map((said) =>
      Promise.all(
        said.map(async (one) => ({
          ...one,
          pcm: (await fixture(one.name)).subarray(0, (one.forMs ?? 60_000) * 32),
        })),
      ),
    ),
  );
  const frameOf = (said: (typeof sides)[number] = [], t = 0) => {
    const one = said.find(({ fromMs, pcm }) => t >= fromMs && t < fromMs + pcm.length / 32);
    const at = one === undefined ? 0 : (t - one.fromMs) * 32;
    return one === undefined ? undefined : one.pcm.subarray(at, at + 640);
  };
  let seen: SeenTurns = { overlaps: [], marks: [] };
  const past: SeenTurns[] = [];
  let turn = 0;
  for (const { fromMs, pcm, isTurn } of sides[0] ?? []) {
    turn += 1;
    if (isTurn === undefined) continue;
    const clip = { turn, isTurn, startMs: fromMs, endMs: fromMs + pcm.length / 32 };
    live.said(clip);
    whole.said(clip);
  }
  for (let t = 0; t < untilMs; t += 20) {
    const [mine = Buffer.alloc(640), theirs] = sides.map((side) => frameOf(side, t));
    for (const tracks of [live, whole]) {
      tracks.sent(mine, t);
      if (theirs !== undefined) tracks.received(theirs, t);
    }
    if (t % 500 !== 480) continue;
    seen = addTurnNews(seen, live.look(t));
    past.push(seen);
  }
  const dialogue = whole.judge(10_000);
  return { seen, past, whole: { overlaps: dialogue.overlaps, marks: dialogueMarks(dialogue) } };
}

test('during a call, the same is seen of an interruption as the judge finds at the end', async () => {
  const { seen, past, whole } = await watch(
    [
      { name: 'question', fromMs: 500 },
      { name: 'barge-in', fromMs: 6_500 },
    ],
    [{ name: 'answer', fromMs: 5_000, forMs: 2_000 }],
    12_000,
  );
  expect(whole.overlaps).toHaveLength(1);
  expect(seen.overlaps).toEqual(whole.overlaps);
  const mark = whole.marks.find(({ sign }) => sign === 'y');
  expect(mark).toMatchObject({ sign: 'y', name: expect.stringMatching(/^yields \d+ ms$/) });
  expect(seen.marks).toContainEqual(mark);
  // It is marked within a second, and both are seen to speak before.
  const firstSeen = past.findIndex(({ marks }) => marks.length > 0) * 500 + 480;
  expect(firstSeen - (mark?.t ?? 0)).toBeLessThanOrEqual(1_000);
  expect(past.findIndex(({ overlaps }) => overlaps.length > 0) * 500 + 480).toBeLessThan(firstSeen);
});

test.each([
  [undefined, '?', 'false stop?'],
  [false, 'f', 'false stop'],
] as const)(
  'a cough that stops the AI is marked; only a script says that it is not a turn (%s)',
  async (isTurn, sign, name) => {
    const said = isTurn === undefined ? {} : { isTurn };
    const { seen, whole } = await watch(
      [
        { name: 'question', fromMs: 500, ...(isTurn === undefined ? {} : { isTurn: true }) },
        { name: 'cough', fromMs: 6_600, ...said },
      ],
      [
        { name: 'answer', fromMs: 5_000, forMs: 2_000 },
        { name: 'answer', fromMs: 8_000 },
      ],
      12_000,
    );
    expect(seen.marks).toContainEqual(expect.objectContaining({ sign, name }));
    expect(whole.marks).toEqual(expect.arrayContaining([...seen.marks]));
  },
);

test('in a long call only the newest seconds are judged, and earlier findings stay', async () => {
  const { seen, whole } = await watch(
    [
      { name: 'question', fromMs: 500 },
      { name: 'barge-in', fromMs: 6_500 },
      { name: 'barge-in', fromMs: 30_500 },
    ],
    [
      { name: 'answer', fromMs: 5_000, forMs: 2_000 },
      { name: 'answer', fromMs: 29_000, forMs: 2_000 },
    ],
    42_000,
  );
  const yields = (of: SeenTurns) => of.marks.filter(({ sign }) => sign === 'y').map(({ t }) => t);
  expect(yields(whole)).toHaveLength(2);
  expect(yields(seen)).toEqual(yields(whole));
  // The background is that of the part which is judged: a soft beginning may move a little.
  expect(seen.overlaps).toHaveLength(whole.overlaps.length);
  for (const [index, { startMs, endMs }] of seen.overlaps.entries()) {
    expect(Math.abs(startMs - (whole.overlaps[index]?.startMs ?? 0))).toBeLessThanOrEqual(60);
    expect(Math.abs(endMs - (whole.overlaps[index]?.endMs ?? 0))).toBeLessThanOrEqual(60);
  }
});

test.each([0, 15_000])(
  'a turn after %i ms without a reply is marked when the wait is over',
  async (fromMs) => {
    const { seen, past, whole } = await watch(
      [{ name: 'question', fromMs: fromMs + 500 }],
      [],
      fromMs + 16_000,
    );
    const [mark] = whole.marks;
    expect(mark).toMatchObject({ name: 'no reply' });
    expect(seen.marks).toEqual([mark]);
    const firstSeen = past.findIndex(({ marks }) => marks.length > 0) * 500 + 480;
    expect(firstSeen - (mark?.t ?? 0)).toBeGreaterThanOrEqual(10_000);
    expect(firstSeen - (mark?.t ?? 0)).toBeLessThanOrEqual(11_000);
  },
);
