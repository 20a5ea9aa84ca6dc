import { dialogueRules } from '../audio/dialogue/rules.ts';
import type { SoundSpan } from '../audio/dialogue/sound-spans.ts';
import { createTwoTracks, type TwoTracks } from '../audio/dialogue/two-tracks.ts';
import type { Pace } from '../audio/pacer.ts';
import { type DialogueMark, dialogueMarks } from './dialogue-lines.ts';

/** Where both speak, and the marks of their turn-taking: what a timeline shows of two voices. */
export interface SeenTurns {
  overlaps: readonly SoundSpan[];
  marks: readonly DialogueMark[];
}

/** New findings: they replace everything from `fromMs` on. */
export interface TurnNews extends SeenTurns {
  type: 'turns';
  fromMs: number;
}

/** Watches the voices of a live session, with the judge of a finished one. Needs about 200 kB for a wait of 10 s. */
export interface TurnWatch extends Pick<TwoTracks, 'sent' | 'received' | 'interrupted' | 'said'> {
  /**
   * What the last seconds before `t` show. AI audio counts as ended once it has been silent long enough. `isOver`: nothing
   * follows, so that the last moment is known too.
   */
  look(t: number, isOver?: boolean): TurnNews;
}

/** The first part of what is judged lacks its context, and was judged earlier. */
const settledMs = 10_000;
/** A turn without a reply is seen this long after the wait is over. */
const lookForMs = 3_000;
/** With a longer wait, turns without a reply are only told at the end. */
const longestWaitMs = 30_000;

/** `waitMs`: how long a turn may be without a reply. `pace`: of the sent audio. */
export function createTurnWatch(waitMs: number, pace?: Pace): TurnWatch {
  const keepMs = settledMs + Math.min(Math.max(waitMs, settledMs), longestWaitMs) + lookForMs;
  const tracks = createTwoTracks({ keepMs, pace });
  return {
    ...tracks,
    look(t, isOver = false) {
      const before = (lastMs: number) => (isOver ? Number.POSITIVE_INFINITY : t - lastMs);
      const dialogue = tracks.judge(waitMs, t);
      const { keptFromMs } = tracks;
      const fromMs = keptFromMs === 0 ? 0 : keptFromMs + settledMs;
      const overlaps = dialogue.overlaps.map(({ startMs, endMs }) => ({
        startMs: startMs + keptFromMs,
        endMs: endMs + keptFromMs,
      }));
      // Whether a sound is short is only known when it is over.
      const remarks = dialogue.remarks.filter(({ atMs }) =>
        dialogue.turns.some(
          ({ startMs, endMs }) => startMs === atMs && keptFromMs + endMs <= before(dialogueRules.turnPauseMs),
        ),
      );
      const marks = dialogueMarks({ ...dialogue, remarks }).map((mark) => ({
        ...mark,
        t: mark.t + keptFromMs,
      }));
      return {
        type: 'turns',
        fromMs,
        overlaps: overlaps.filter(({ startMs }) => startMs >= fromMs),
        marks: marks.filter((mark) => mark.t >= fromMs && mark.t <= before(dialogueRules.aiSilentMs)),
      };
    },
  };
}

/** Maximum number of each that are kept. */
const maxSeen = 500;

/** What was known before, updated by the news. */
export function addTurnNews(before: SeenTurns, { fromMs, overlaps, marks }: TurnNews): SeenTurns {
  return {
    overlaps: [...before.overlaps.filter(({ startMs }) => startMs < fromMs), ...overlaps].slice(-maxSeen),
    marks: [...before.marks.filter(({ t }) => t < fromMs), ...marks].slice(-maxSeen),
  };
}
