import type { Dialogue, UserTurn } from '../audio/dialogue/dialogue.ts';
import type { MeasuredTurns } from '../kernel/audio-limits.ts';
import { type ExpectationVerdict, verdict } from './expectations.ts';

/** The worst figures of some turns, for the limits of a session or of one turn. */
export function measureTurns(
  turns: readonly UserTurn[],
  { unjudged }: Pick<Dialogue, 'unjudged'>,
): MeasuredTurns {
  const worst = (values: readonly (number | null)[]) => {
    const found = values.filter((value) => value !== null);
    return found.length === 0 ? null : Math.max(...found);
  };
  return {
    unjudged,
    responseMs: worst(turns.map(({ responseMs }) => responseMs)),
    earlyMs: worst(turns.map(({ earlyMs }) => earlyMs)),
    isUnanswered: turns.some(({ reply }) => reply === 'lost' || reply === 'unanswered'),
    yieldMs: worst(turns.map(({ yieldMs }) => yieldMs)),
    neverYields: turns.some(({ interruption }) => interruption === 'never-yields'),
    talkOverMs: turns.reduce((sum, { talkOverMs }) => sum + talkOverMs, 0),
  };
}

/** Judges how the AI reacted to a sound that is not a turn. */
export function judgeHold(holdMs: number, turn: number, dialogue: Dialogue): ExpectationVerdict {
  const name = 'expect hold';
  const expected = `nothing changes for ${holdMs} ms`;
  if (dialogue.unjudged !== null)
    return { name, ok: true, expected, measured: `not judged: ${dialogue.unjudged}`, skipped: true };
  const noise = dialogue.noises.find((one) => one.turn === turn);
  if (noise === undefined)
    return verdict(name, 'turn-skipped', { ok: false, expected, measured: 'no sound was sent' });
  if (noise.stoppedAtMs !== null) {
    const resumed = noise.resumedAfterMs === null ? '' : `, and went on after ${noise.resumedAfterMs} ms`;
    const measured = `the AI stopped after ${noise.stoppedAtMs - noise.startMs} ms${resumed}`;
    return verdict(name, 'false-interruption', { ok: false, expected, measured });
  }
  if (noise.answeredAtMs !== null) {
    const measured = `the AI replied after ${noise.answeredAtMs - noise.endMs} ms`;
    return verdict(name, 'answers-noise', { ok: false, expected, measured });
  }
  const before = dialogue.turns.findLast(({ startMs }) => startMs < noise.startMs);
  const isLost = before?.reply === 'lost';
  return verdict(name, 'no-reply', {
    ok: !isLost,
    expected,
    measured: isLost ? 'there was no reply to the previous turn' : 'nothing changed',
  });
}
