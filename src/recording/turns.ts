import type { Direction } from './format.ts';

/** Uninterrupted speech of one side, on the time axis. */
export interface RecordedTurn {
  voice: Direction;
  startMs: number;
  endMs: number;
  /** For the AI: from the end of the user's turn to the start of this one. Null if it is not a reply. */
  afterMs: number | null;
  /** For the user: whether it starts while the AI speaks. */
  bargeIn: boolean;
}

export type Speech = Pick<RecordedTurn, 'voice' | 'startMs' | 'endMs'>;

/** The speech of both sides as turns, in order. */
export function relateTurns(spoken: readonly Speech[]): RecordedTurn[] {
  const last: Partial<Record<Direction, Speech>> = {};
  let before: Speech | undefined;
  return [...spoken]
    .sort((a, b) => a.startMs - b.startMs)
    .map((speech) => {
      const turn = relate(speech, last[speech.voice === 'out' ? 'in' : 'out'], before);
      last[speech.voice] = speech;
      before = speech;
      return turn;
    });
}

/** `other`: the last speech of the other side; `before`: of any side. */
function relate(speech: Speech, other: Speech | undefined, before: Speech | undefined): RecordedTurn {
  const answers =
    speech.voice === 'in' && other !== undefined && before === other && other.endMs <= speech.startMs;
  return {
    ...speech,
    afterMs: answers ? speech.startMs - other.endMs : null,
    bargeIn: speech.voice === 'out' && other !== undefined && other.endMs > speech.startMs,
  };
}
