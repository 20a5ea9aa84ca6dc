import type { Level } from '../../audio/level.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import type { ServiceMessage } from '../../protocol/messages.ts';
import { type Verdict, verdict } from '../expectations.ts';
import { roundMs } from '../metrics.ts';
import type { Absence, EventMatch, Following, TurnPlan } from './conversation-plan.ts';
import { findMismatch, matchesText } from './field-match.ts';
import { createTurnAudio, type TurnAudio } from './turn-audio.ts';

/** A current or past turn: observes what follows it, and judges that. */
export interface Turn {
  readonly audio: TurnAudio;
  sent(frame: Buffer, now: number): void;
  received(pcm: Buffer, level: Level, now: number): void;
  message(message: ServiceMessage, now: number): void;
  /** The next turn begins. From now on only messages that this turn still expects belong to it. */
  passOn(now: number): void;
  /** Whether everything that must follow has arrived, or its time is over. */
  isDecided(now: number): boolean;
  verdicts(now: number): Verdict[];
  /** Lets the judge of the turn hear the reply; its verdict is among `verdicts` then. */
  letJudge(signal: AbortSignal): Promise<void>;
}

export interface TurnOptions {
  /** When the turn begins, in monotonic milliseconds. */
  beganAt: number;
  settleMs: number;
  /** How long to wait if an expectation does not say it. */
  waitMs: number;
}

/** The result of one thing that must follow. */
interface Followed {
  following: Following;
  /** When it arrived. */
  at?: number;
  /** Describes a message of its kind whose fields did not match. */
  mismatch?: string | undefined;
}

/** Ten minutes. */
const maxJudgedBytes = bytesForMs(600_000);

export function createTurn(plan: TurnPlan, { beganAt, settleMs, waitMs }: TurnOptions): Turn {
  const goalsMs = plan.expect.flatMap((one) => (one.type === 'audio' ? [one.audioMs] : []));
  const audio = createTurnAudio({ beganAt, settleMs, waitMs, goalsMs });
  const awaited = plan.expect.map((following): Followed => ({ following }));
  /** How often each thing arrived that must be absent. */
  const intrusions = new Map<Absence, number>();
  let passedOnAt: number | undefined;
  /** What the judge hears; what comes beyond `maxJudgedBytes` is left out. */
  const reply: Buffer[] = [];
  let replyBytes = 0;
  let judgement: Verdict | undefined;

  const withinMs = ({ following }: Followed) => following.withinMs ?? waitMs;
  const beginOf = ({ following }: Followed) =>
    following.type === 'silence' ? audio.speechBeganAt : audio.speechEndedAt;
  const deadlineOf = (one: Followed) => {
    const begin = beginOf(one);
    return begin === undefined ? undefined : begin + withinMs(one);
  };
  const cameAt = ({ following, at }: Followed) =>
    following.type === 'audio' ? audio.reachedAt(following.audioMs) : at;

  /** Checks for silence: no event marks its beginning. */
  const look = (now: number) => {
    if (passedOnAt !== undefined) return;
    for (const one of awaited) {
      if (one.following.type !== 'silence' || one.at !== undefined) continue;
      const since = Math.max(audio.speechBeganAt, audio.lastAudibleAt ?? 0);
      if (now - since >= one.following.silenceMs) one.at = since;
    }
  };

  const judgeFollowing = (one: Followed, now: number): Verdict => {
    const { following, mismatch } = one;
    const begin = beginOf(one);
    const at = cameAt(one);
    const deadline = deadlineOf(one);
    const ok = at !== undefined && deadline !== undefined && at <= deadline;
    const measured =
      at !== undefined && begin !== undefined
        ? afterText(at - begin)
        : `${mismatch ?? 'never'}${begin === undefined ? '' : ` in ${roundMs(Math.min((passedOnAt ?? now) - begin, withinMs(one)))} ms`}`;
    const expected = `${followingText(following)} within ${withinMs(one)} ms`;
    if (following.type === 'audio') {
      return verdict('expect audio', at === undefined ? 'too-little-audio' : 'late-audio', {
        ok,
        expected,
        measured,
      });
    }
    if (following.type === 'silence')
      return verdict('expect silence', 'not-interrupted', { ok, expected, measured });
    const kind = at === undefined && mismatch !== undefined ? 'wrong-field' : 'missing-event';
    return verdict('expect event', kind, { ok, expected, measured });
  };

  const judgeAbsence = (absence: Absence, now: number): Verdict => {
    const isAudio = absence.type === 'audio';
    const name = isAudio ? 'absent audio' : 'absent event';
    const expected = isAudio ? 'no audible AI audio' : `no ${eventText(absence.event)}`;
    const times = isAudio ? Number(audio.firstAudibleAt !== undefined) : (intrusions.get(absence) ?? 0);
    if (times > 0) {
      const kind = isAudio ? 'unexpected-audio' : 'forbidden-event';
      return verdict(name, kind, {
        ok: false,
        expected,
        measured: isAudio ? 'AI audio' : times === 1 ? 'once' : `${times} times`,
      });
    }
    // Absence counts only if the service had time to send.
    const isHeardOut = passedOnAt !== undefined || audio.replyState(now) !== 'awaited';
    const measured = isHeardOut ? 'none' : 'none, but the session ended before a reply could come';
    return verdict(name, 'turn-skipped', { ok: isHeardOut, expected, measured });
  };

  return {
    audio,
    sent(frame, now) {
      audio.sent(frame, now);
      look(now);
    },
    received(pcm, level, now) {
      look(now);
      if (passedOnAt !== undefined) return;
      audio.received(pcm, level, now);
      if (plan.judge === undefined || replyBytes >= maxJudgedBytes) return;
      reply.push(pcm);
      replyBytes += pcm.length;
    },
    message({ kind, body }, now) {
      for (const one of awaited) {
        if (one.following.type !== 'event' || one.at !== undefined || one.following.event.kind !== kind)
          continue;
        one.mismatch = findMismatch(one.following.event.where, body);
        if (one.mismatch === undefined) one.at = now;
      }
      if (passedOnAt !== undefined) return;
      for (const absence of plan.absent) {
        if (absence.type !== 'event' || absence.event.kind !== kind) continue;
        if (findMismatch(absence.event.where, body) === undefined)
          intrusions.set(absence, (intrusions.get(absence) ?? 0) + 1);
      }
    },
    passOn(now) {
      look(now);
      passedOnAt = now;
    },
    isDecided: (now) =>
      awaited.every((one) => {
        if (cameAt(one) !== undefined) return true;
        if (passedOnAt !== undefined && one.following.type !== 'event') return true;
        const deadline = deadlineOf(one);
        const looksOnMs = one.following.type === 'silence' ? one.following.silenceMs : 0;
        return deadline !== undefined && now > deadline + looksOnMs;
      }),
    verdicts: (now) => [
      ...audio.judge(plan),
      ...awaited.map((one) => judgeFollowing(one, now)),
      ...plan.absent.map((absence) => judgeAbsence(absence, now)),
      ...(judgement === undefined ? [] : [judgement]),
    ],
    async letJudge(signal) {
      const { judge } = plan;
      if (judge === undefined) return;
      const { ok, says } = await judge.run(Buffer.concat(reply), signal);
      judgement = verdict('judge', 'judge-failed', {
        ok,
        expected: `${judge.text} accepts the reply`,
        measured: says,
      });
    },
  };
}

function followingText(following: Following): string {
  switch (following.type) {
    case 'audio':
      return following.audioMs === 0 ? 'any AI audio' : `${following.audioMs} ms of AI audio`;
    case 'silence':
      return `${following.silenceMs} ms of silence`;
    case 'event':
      return eventText(following.event);
  }
}

function eventText({ kind, where }: EventMatch): string {
  const fields = matchesText(where);
  return fields === '' ? kind : `${kind} where ${fields}`;
}

function afterText(ms: number): string {
  return ms < 0 ? `${roundMs(-ms)} ms before` : `after ${roundMs(ms)} ms`;
}
