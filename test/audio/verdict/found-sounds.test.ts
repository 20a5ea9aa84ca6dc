import { expect, test } from 'vitest';
import { type FoundInVoice, FoundSounds } from '../../../src/audio/verdict/found-sounds.ts';

const one = (finding: FoundInVoice['finding'], atMs: number, more: Partial<FoundInVoice> = {}) => ({
  ...{ finding, remark: finding, atMs, lengthMs: 20 },
  ...more,
});
const doubtful = { isDoubtful: true } as const;

function judged(...found: FoundInVoice[]) {
  const sounds = new FoundSounds();
  const told = found.flatMap((each) => sounds.add(each)).map(({ finding }) => finding);
  const judgements = sounds.judgements('service', () => false);
  return { told, found: judgements.map(({ kind, is, atMs, times }) => [kind, is, atMs, times]) };
}

test('a click near a repeat is explained, and one elsewhere is not', () => {
  const { found } = judged(one('repeat', 1_000), one('click', 1_020), one('click', 5_000));
  expect(found).toEqual([
    ['repeat', 'finding', 1_000, 1],
    ['click', 'finding', 5_000, 1],
  ]);
});

test.each([
  [479, 1],
  [480, 0],
  [1_520, 0],
  [1_521, 1],
])(
  'a click is near a repeat from 1,000 to 1,020 ms up to half a second away: at %d ms %d is left',
  (atMs, left) => {
    const { found } = judged(one('repeat', 1_000), one('click', atMs));
    expect(found.filter(([kind]) => kind === 'click')).toHaveLength(left);
  },
);

test('a cause that is found later explains what was found before it', () => {
  const { told, found } = judged(one('click', 1_020), one('click', 5_000), one('repeat', 1_000));
  expect(told).toEqual(['click', 'repeat']);
  expect(found).toEqual([
    ['click', 'finding', 5_000, 1],
    ['repeat', 'finding', 1_000, 1],
  ]);
});

test('a cause that continues explains everything near it', () => {
  const repeats = Array.from({ length: 300 }, (_, at) => one('repeat', 100 * at));
  expect(judged(...repeats, one('click', 200)).found).toEqual([['repeat', 'finding', 0, 300]]);
});

test('a remark does not explain a finding', () => {
  const { found } = judged(one('wrong-rate', 0, doubtful), one('click', 1_000), one('noise', 0, doubtful));
  expect(found.map(([kind]) => kind)).toEqual(['wrong-rate', 'click']);
});

test('a quiet voice is still reported when its level changes', () => {
  const { found } = judged(one('quiet-voice', 0, doubtful), one('level-jump', 9_000, doubtful));
  expect(found.map(([kind]) => kind)).toEqual(['quiet-voice', 'level-jump']);
});

test('the first certain finding counts, however many remarks came before it', () => {
  const remarks = Array.from({ length: 100 }, (_, at) => one('click', 1_000 * at, doubtful));
  const { told, found } = judged(...remarks, one('click', 200_000));
  expect(told).toEqual(['click', 'click']);
  expect(found).toEqual([['click', 'finding', 200_000, 101]]);
});
