import type { Dialogue, DialogueSpread } from '../audio/dialogue/dialogue.ts';
import { neverYieldsMs } from '../kernel/never-yields.ts';
import { percentText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import { timeText } from './event-words.ts';
import type { Style } from './style.ts';
import { factLines } from './table-lines.ts';

/** The turn-taking of two voices: a short table, and a line for each moment worth a look. */
export function dialogueLines(dialogue: Dialogue, style: Style): string[] {
  const problems = dialogue.unjudged === null ? dialogueProblems(dialogue) : [];
  return [
    ...factLines(dialogueRows(dialogue), style),
    ...problems.map(({ atMs, text }) => style.note(`${timeText(atMs)}  ! ${text}`)),
  ];
}

/** The figures, as a short table. */
export function dialogueRows({ unjudged, figures, turns, ai }: Dialogue): [string, string][] {
  if (unjudged !== null) return [['turn-taking', `not judged: ${unjudged}`]];
  if (turns.length + ai.length === 0) return [['turns', 'nobody spoke']];
  const { talkShare, overlapMs, talkOverMs, silenceMs } = figures;
  return [
    ['turns', `${turns.length} of the user, ${ai.length} of the AI`],
    ['response', spreadText(figures.responseMs)],
    ['yield', spreadText(figures.yieldMs)],
    ['overlap', `${secondsText(overlapMs)}, ${secondsText(talkOverMs)} of it while the AI had to be silent`],
    ['silence', secondsText(silenceMs)],
    [
      'talk share',
      talkShare === null ? '–' : `user ${percentText(talkShare.user)}, AI ${percentText(talkShare.ai)}`,
    ],
  ];
}

/** The signs of both voices on one time axis, wherever that is drawn with characters. */
export const dialogueSigns = {
  overlap: '▒',
  plainOverlap: 'x',
  yields: 'y',
  falseStop: 'f',
  maybeFalseStop: '?',
} as const;

/** A moment at which something happened between two voices. */
export interface DialogueMark {
  t: number;
  /** Undefined if it has none: then only pages show it. */
  sign: (typeof dialogueSigns)['yields' | 'falseStop' | 'maybeFalseStop'] | undefined;
  /** One or a few words to show beside the sign. */
  name: string;
  /** The same as a sentence. */
  text: string;
  isProblem: boolean;
}

/** The moments of a dialogue that are marked on its time axis, in order. */
export function dialogueMarks(dialogue: Pick<Dialogue, 'turns' | 'noises' | 'remarks'>): DialogueMark[] {
  const yields = dialogue.turns.flatMap(({ startMs, yieldMs }): DialogueMark[] => {
    if (yieldMs === null) return [];
    const text = `the AI yields after ${yieldMs} ms`;
    const name = `yields ${yieldMs} ms`;
    return [{ t: startMs + yieldMs, sign: dialogueSigns.yields, name, text, isProblem: false }];
  });
  const problems = dialogueProblems(dialogue).map(
    ({ atMs, name, text, sign }): DialogueMark => ({ t: atMs, sign, name, text, isProblem: true }),
  );
  return [...yields, ...problems].toSorted((a, b) => a.t - b.t);
}

interface Problem extends Pick<DialogueMark, 'name' | 'text'> {
  atMs: number;
  sign?: DialogueMark['sign'];
}

/** What went wrong between the two voices or is worth a look, in order. */
function dialogueProblems({
  turns,
  noises,
  remarks,
}: Pick<Dialogue, 'turns' | 'noises' | 'remarks'>): Problem[] {
  const found = [
    ...turns.flatMap(turnProblems),
    ...noises.flatMap(noiseProblems),
    ...remarks.map((remark) => ({
      ...remark,
      name: 'false stop?',
      sign: dialogueSigns.maybeFalseStop,
    })),
  ];
  return found.toSorted((a, b) => a.atMs - b.atMs);
}

function turnProblems({
  startMs,
  endMs,
  earlyMs,
  interruption,
  reply,
}: Dialogue['turns'][number]): Problem[] {
  const found: (Problem | false)[] = [
    earlyMs !== null && {
      atMs: endMs - earlyMs,
      name: 'early reply',
      text: `early reply: ${earlyMs} ms before the end of the turn`,
    },
    interruption === 'never-yields' && {
      atMs: startMs,
      name: 'never yields',
      text: `the AI keeps speaking for more than ${neverYieldsMs / 1000} s after an interruption`,
    },
    reply === 'lost' && {
      atMs: endMs,
      name: 'reply lost',
      text: 'no reply to this turn: a sound came in between',
    },
    reply === 'unanswered' && { atMs: endMs, name: 'no reply', text: 'no reply to this turn' },
  ];
  return found.filter((problem) => problem !== false);
}

function noiseProblems({ stoppedAtMs, resumedAfterMs, answeredAtMs }: Dialogue['noises'][number]): Problem[] {
  const resumed = resumedAfterMs === null ? '' : `; it went on after ${resumedAfterMs} ms`;
  const found: (Problem | false)[] = [
    stoppedAtMs !== null && {
      atMs: stoppedAtMs,
      name: 'false stop',
      sign: dialogueSigns.falseStop,
      text: `false interruption: the AI stops for a sound that is not a turn${resumed}`,
    },
    answeredAtMs !== null && {
      atMs: answeredAtMs,
      name: 'answers noise',
      text: 'the AI replies to a sound that is not a turn',
    },
  ];
  return found.filter((problem) => problem !== false);
}

/** `p50 660 ms`, or the only value. */
export function dialogueMedianText(spread: DialogueSpread | null): string {
  return spread === null ? '–' : `${spread.count === 1 ? '' : 'p50 '}${spread.p50} ms`;
}

function spreadText(spread: DialogueSpread | null): string {
  if (spread === null) return '–';
  const { count, p50, p95, max } = spread;
  return count === 1 ? `${max} ms` : `p50 ${p50} ms, p95 ${p95} ms, max ${max} ms (${count})`;
}
