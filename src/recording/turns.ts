import type { Direction } from './format.ts';

/** Uninterrupted speech of one side, on the time axis. */
export interface Turn {
  voice: Direction;
  startMs: number;
  endMs: number;
  /** For the AI: from the end of your turn to the start of this one. Null if it answers no turn. */
  afterMs: number | null;
  /** For you: it starts while the AI speaks. */
  bargeIn: boolean;
}

export type Speech = Pick<Turn, 'voice' | 'startMs' | 'endMs'>;

/** The speech of both sides as turns, in order. */
export function relateTurns(spoken: readonly Speech[]): Turn[] {
  return [...spoken].sort((a, b) => a.startMs - b.startMs).map(relate);
}

function relate(speech: Speech, index: number, all: readonly Speech[]): Turn {
  const before = all.slice(0, index);
  const other = before.findLast(({ voice }) => voice !== speech.voice);
  const isNext = before.at(-1) === other;
  const answers = speech.voice === 'in' && isNext && other !== undefined && other.endMs <= speech.startMs;
  return {
    ...speech,
    afterMs: answers ? speech.startMs - other.endMs : null,
    bargeIn: speech.voice === 'out' && other !== undefined && other.endMs > speech.startMs,
  };
}
