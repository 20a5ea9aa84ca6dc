import type { Dialogue, UserTurn } from '../audio/dialogue/dialogue.ts';
import type { MeasuredTurns } from '../kernel/audio-limits.ts';
import { type ExpectationVerdict, verdict } from './expectations.ts';

/** Whether turns can be judged, and which of them the service hung up on. */
interface TurnsContext extends Pick<Dialogue, 'unjudged'> {
  /** If the service ended the stream: a reply to a turn that ended by then, and that has not begun, never comes. */
  hungUpOnMs?: number | undefined;
}

/**
 * The worst figures of some turns, for the limits of a session or of one turn. `pausedMs`: how long this process did not run
 * between two times of the dialogue, at the longest.
 */
export function measureTurns(
  turns: readonly UserTurn[],
  { unjudged, hungUpOnMs = Number.NEGATIVE_INFINITY }: TurnsContext,
  pausedMs: (fromMs: number, untilMs: number) => number,
): MeasuredTurns {
  const worst = (values: readonly (number | null)[]) => {
    const found = values.filter((value) => value !== null);
    return found.length === 0 ? null : Math.max(...found);
  };
  /** The worst figure, and by how much pauses lengthened it. */
  const measure = (figure: 'responseMs' | 'yieldMs', from: 'startMs' | 'endMs') => {
    const ms = worst(turns.map((turn) => turn[figure]));
    const running = turns.map((turn) => {
      const value = turn[figure];
      return value === null ? null : value - pausedMs(turn[from], turn[from] + value);
    });
    return { ms, pausedMs: (ms ?? 0) - (worst(running) ?? 0) };
  };
  const response = measure('responseMs', 'endMs');
  const yielding = measure('yieldMs', 'startMs');
  const early = measureEarly(turns, pausedMs);
  const last = turns.at(-1);
  return {
    unjudged,
    responseMs: response.ms,
    earlyMs: worst(early.map(({ ms, pausedMs }) => (pausedMs === 0 ? ms : null))),
    earlyAfterPause: early.find(({ pausedMs }) => pausedMs > 0),
    isUnanswered:
      turns.some(({ reply }) => reply === 'lost' || reply === 'unanswered') ||
      (last?.reply === 'open' && last.endMs <= hungUpOnMs),
    yieldMs: yielding.ms,
    neverYields: turns.some(({ interruption }) => interruption === 'never-yields'),
    talkOverMs: turns.reduce((sum, { talkOverMs }) => sum + talkOverMs, 0),
    pausedMs: {
      responseMs: response.pausedMs,
      yieldMs: yielding.pausedMs,
      talkOverMs: turns.reduce((sum, { startMs, endMs }) => sum + pausedMs(startMs, endMs), 0),
    },
  };
}

/**
 * By how much each early reply came before the end of its turn, and how long this process did not run in the turn before it: the
 * service heard nothing then, which may have been the end of the turn for it.
 */
function measureEarly(
  turns: readonly UserTurn[],
  pausedMs: (fromMs: number, untilMs: number) => number,
): { ms: number; pausedMs: number }[] {
  return turns.flatMap(({ startMs, endMs, earlyMs: ms }) =>
    ms === null ? [] : [{ ms, pausedMs: pausedMs(startMs, endMs - ms) }],
  );
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
