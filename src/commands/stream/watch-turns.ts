import type { ScriptedClip } from '../../audio/dialogue/dialogue.ts';
import { watchInterruptions } from '../../recording/recorder.ts';
import { createTurnWatch, type TurnNews } from '../../report/turn-watch.ts';
import type { SessionEvent } from '../../session/events.ts';
import type { Tap } from '../../wire/tap.ts';

/** Interval of the checks for who speaks over whom. */
const lookEveryMs = 500;

/** Shows on a screen who speaks over whom, for one session after the other. */
export function watchTurns(waitMs: number, show: (news: TurnNews) => void) {
  let watch = createTurnWatch(waitMs);
  let interrupts = watchInterruptions();
  let startedAt = 0;
  let lookedMs = 0;
  let clip: ScriptedClip | undefined;
  const look = (t: number) => {
    if (t - lookedMs < lookEveryMs) return;
    lookedMs = t;
    show(watch.look(t));
  };
  const tap: Tap = {
    began(at) {
      watch = createTurnWatch(waitMs);
      interrupts = watchInterruptions();
      startedAt = at;
      lookedMs = 0;
      clip = undefined;
    },
    message(message) {
      const t = message.at - startedAt;
      if ('data' in message) {
        if (message.from === 'device') watch.sent(message.data, t);
        else watch.received(message.data, t);
        look(t);
      } else if (interrupts(message)) watch.interrupted(t);
    },
  };
  return {
    tap,
    /** The session has its pace; the script gives the places of its clips, and which of them are not turns. */
    follow(event: SessionEvent) {
      if (event.type === 'session') watch = createTurnWatch(waitMs, event.pace);
      if (event.type !== 'turn') return;
      const { turn, state, atMs, holdMs } = event;
      if (state === 'end') {
        if (clip !== undefined) clip.endMs = atMs;
        return;
      }
      // The audio being sent now already belongs to this clip.
      clip = { turn, isTurn: holdMs === undefined, holdMs, startMs: atMs, endMs: Number.POSITIVE_INFINITY };
      watch.said(clip);
    },
  };
}
