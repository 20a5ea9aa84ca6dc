import { describe, expect, test } from 'vitest';
import type { UserTurn } from '../../src/audio/dialogue/dialogue.ts';
import { judgeLimit } from '../../src/kernel/audio-limits.ts';
import { measureTurns } from '../../src/session/dialogue-verdicts.ts';

const answered: UserTurn = {
  ...{ startMs: 1_000, endMs: 3_000, responseMs: 400, earlyMs: null },
  ...{ interruption: null, yieldMs: null, talkOverMs: 0, reply: 'answered' },
};
/** Its reply begins at 2,600 ms. */
const early: UserTurn = { ...answered, responseMs: null, earlyMs: 400, talkOverMs: 400 };
const later = (turn: UserTurn, byMs: number): UserTurn => ({
  ...turn,
  startMs: turn.startMs + byMs,
  endMs: turn.endMs + byMs,
});

/** Judges `max-response: 1s` if this process did not run between two times. */
function judge(
  turns: readonly UserTurn[],
  [pausedFrom, pausedUntil]: readonly [number, number],
  hungUpOnMs?: number,
) {
  const dialogue = measureTurns(turns, { unjudged: null, hungUpOnMs }, (from, until) =>
    Math.max(0, Math.min(until, pausedUntil) - Math.max(from, pausedFrom)),
  );
  const heard = { in: { bytes: 640, audioMs: 20 }, audibleMs: 20, firstAudioMs: 0 };
  const { ok, skipped, kind, measured } = judgeLimit('max-response', 1_000, {
    ...{ ...heard, longestGapMs: null, jitterMs: null },
    dialogue,
  });
  return { ok, skipped, kind, measured };
}

const excused = {
  ok: true,
  skipped: true,
  kind: undefined,
  measured: 'not judged: 400 ms before the end of the turn, but this process did not run for 700 ms',
};
const failed = (kind: string | undefined, measured: string) => ({
  ok: false,
  skipped: undefined,
  kind,
  measured,
});
const tooEarly = failed('early-reply', '400 ms before the end of the turn');

test.each<[what: string, turns: UserTurn[], paused: [number, number], judged: object]>([
  ['after a pause in its turn is not judged', [early], [1_500, 2_200], excused],
  ['after no pause is too early', [early], [0, 0], tooEarly],
  ['before the pause is too early', [early], [2_700, 3_400], tooEarly],
  ['is too early if another one after no pause is', [early, later(early, 9_000)], [1_500, 2_200], tooEarly],
  [
    'hides no slow reply',
    [early, { ...later(answered, 9_000), responseMs: 1_500 }],
    [1_500, 2_200],
    failed(undefined, '1500 ms'),
  ],
  [
    'hides no lost reply',
    [early, { ...later(answered, 9_000), responseMs: null, reply: 'lost' }],
    [1_500, 2_200],
    failed('no-reply', 'no reply'),
  ],
  [
    'hides no missing reply',
    [early, { ...later(answered, 9_000), responseMs: null, reply: 'unanswered' }],
    [1_500, 2_200],
    failed('no-reply', 'no reply'),
  ],
])('an early reply %s', (_what, turns, paused, judged) => {
  expect(judge(turns, paused)).toEqual(judged);
});

describe('a last turn that is still without a reply', () => {
  const open: UserTurn = { ...later(answered, 9_000), responseMs: null, reply: 'open' };
  const never = failed('no-reply', 'no reply');
  const fast = { ok: true, skipped: undefined, kind: undefined, measured: '400 ms' };

  test.each<[what: string, hungUpOnMs: number | undefined, turns: UserTurn[], judged: object]>([
    ['never gets one after the service hung up on it', open.endMs, [answered, open], never],
    ['never gets one, even if no other turn had one', open.endMs, [open], never],
    ['is not judged if the service hung up during it', open.endMs - 5, [answered, open], fast],
    ['is not judged if the service did not end the stream', undefined, [answered, open], fast],
  ])('%s', (_what, hungUpOnMs, turns, judged) => {
    expect(judge(turns, [0, 0], hungUpOnMs)).toEqual(judged);
  });

  test('is judged only if it is the last', () => {
    expect(judge([open, later(answered, 18_000)], [0, 0], open.endMs)).toEqual(fast);
  });
});
