import type { Dialogue, DialogueSpread } from '../audio/dialogue/dialogue.ts';
import { secondsText } from '../protocol/time-text.ts';
import { timeText } from './event-words.ts';
import type { Style } from './style.ts';

/** How two voices got on, as a short table and a line for each thing that is worth a look. */
export function dialogueLines(dialogue: Dialogue, style: Style): string[] {
  const rows = dialogueRows(dialogue);
  const problems = dialogue.unjudged === null ? dialogueProblems(dialogue) : [];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    ...rows.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${value}`),
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
    ['overlap', `${secondsText(overlapMs)}, ${secondsText(talkOverMs)} of it the AI had to be silent`],
    ['silence', secondsText(silenceMs)],
    ['talk share', talkShare === null ? '–' : `user ${percent(talkShare.user)}, AI ${percent(talkShare.ai)}`],
  ];
}

type Problem = Dialogue['remarks'][number];

/** What went wrong between the two, or is worth a look, in order. */
export function dialogueProblems({ turns, noises, remarks }: Dialogue): Problem[] {
  const found = [...turns.flatMap(turnProblems), ...noises.flatMap(noiseProblems), ...remarks];
  return found.toSorted((a, b) => a.atMs - b.atMs);
}

function turnProblems({
  startMs,
  endMs,
  earlyMs,
  interruption,
  reply,
}: Dialogue['turns'][number]): Problem[] {
  return [
    ...(earlyMs === null
      ? []
      : [{ atMs: endMs - earlyMs, text: `early reply: ${earlyMs} ms before the end of the turn` }]),
    ...(interruption === 'never-yields'
      ? [{ atMs: startMs, text: 'the AI speaks on for more than 2 s after an interruption' }]
      : []),
    ...(reply === 'lost' ? [{ atMs: endMs, text: 'no reply to this turn: a sound came between' }] : []),
    ...(reply === 'unanswered' ? [{ atMs: endMs, text: 'no reply to this turn' }] : []),
  ];
}

function noiseProblems({ stoppedAtMs, resumedAfterMs, answeredAtMs }: Dialogue['noises'][number]): Problem[] {
  const resumed = resumedAfterMs === null ? '' : `; it went on after ${resumedAfterMs} ms`;
  return [
    ...(stoppedAtMs === null
      ? []
      : [
          {
            atMs: stoppedAtMs,
            text: `false interruption: the AI stops for a sound that is no turn${resumed}`,
          },
        ]),
    ...(answeredAtMs === null
      ? []
      : [{ atMs: answeredAtMs, text: 'the AI answers a sound that is no turn' }]),
  ];
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

const percent = (share: number) => `${Math.round(share * 100)} %`;
