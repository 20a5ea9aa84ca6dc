import type { ServiceMessage } from '../../protocol/messages.ts';
import { type Verdict, verdict } from '../expectations.ts';
import { eventText } from './awaited.ts';
import type { Absence } from './conversation-plan.ts';
import { findMismatch } from './field-match.ts';

/** What must not follow a turn. */
export interface Absences {
  message(message: ServiceMessage): void;
  /** `heardAudio`: audible AI audio arrived. `isHeardOut`: the service had time to send. */
  verdicts(heard: { heardAudio: boolean; isHeardOut: boolean }): Verdict[];
}

export function createAbsences(absent: readonly Absence[]): Absences {
  /** How often each thing arrived that must be absent. */
  const intrusions = new Map<Absence, number>();
  return {
    message({ kind, body }) {
      for (const absence of absent) {
        if (absence.type !== 'event' || absence.event.kind !== kind) continue;
        if (findMismatch(absence.event.where, body) === undefined)
          intrusions.set(absence, (intrusions.get(absence) ?? 0) + 1);
      }
    },
    verdicts: ({ heardAudio, isHeardOut }) =>
      absent.map((absence) => {
        const times = absence.type === 'audio' ? Number(heardAudio) : (intrusions.get(absence) ?? 0);
        return judgeAbsence(absence, times, isHeardOut);
      }),
  };
}

function judgeAbsence(absence: Absence, times: number, isHeardOut: boolean): Verdict {
  const isAudio = absence.type === 'audio';
  const name = isAudio ? 'absent audio' : 'absent event';
  const expected = isAudio ? 'no audible AI audio' : `no ${eventText(absence.event)}`;
  if (times > 0) {
    const measured = isAudio ? 'AI audio' : times === 1 ? 'once' : `${times} times`;
    const kind = isAudio ? 'unexpected-audio' : 'forbidden-event';
    return verdict(name, kind, { ok: false, expected, measured });
  }
  // Absence counts only if the service had time to send.
  const measured = isHeardOut ? 'none' : 'none, but the session ended before a reply could come';
  return verdict(name, 'turn-skipped', { ok: isHeardOut, expected, measured });
}
