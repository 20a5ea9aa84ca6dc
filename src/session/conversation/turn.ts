import type { Level } from '../../audio/level.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import type { ServiceMessage } from '../../protocol/messages.ts';
import { type Verdict, verdict } from '../expectations.ts';
import { createAbsences } from './absences.ts';
import { createAwaited } from './awaited.ts';
import type { TurnPlan } from './conversation-plan.ts';
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
  pausedUntil(): number;
}

/** Ten minutes. */
const maxJudgedBytes = bytesForMs(600_000);

export function createTurn(plan: TurnPlan, options: TurnOptions): Turn {
  const goalsMs = plan.expect.flatMap((one) => (one.type === 'audio' ? [one.audioMs] : []));
  const audio = createTurnAudio({ ...options, goalsMs });
  const awaited = createAwaited(plan.expect, audio, options.waitMs);
  const absences = createAbsences(plan.absent);
  let passedOnAt: number | undefined;
  /** What the judge hears; what comes beyond `maxJudgedBytes` is left out. */
  const reply: Buffer[] = [];
  let replyBytes = 0;
  let judgement: Verdict | undefined;

  const look = (now: number) => {
    if (passedOnAt === undefined) awaited.look(now);
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
    message(message, now) {
      awaited.message(message, now);
      if (passedOnAt === undefined) absences.message(message);
    },
    passOn(now) {
      look(now);
      passedOnAt = now;
    },
    isDecided: (now) => awaited.isDecided(now, passedOnAt !== undefined),
    verdicts: (now) => [
      ...audio.judge(plan),
      ...awaited.verdicts(passedOnAt ?? now),
      ...absences.verdicts({
        heardAudio: audio.firstAudibleAt !== undefined,
        isHeardOut: passedOnAt !== undefined || audio.replyState(now) !== 'awaited',
      }),
      ...(judgement === undefined ? [] : [judgement]),
    ],
    async letJudge(signal) {
      const { judge } = plan;
      if (judge === undefined) return;
      const { ok, says } = await judge.run(Buffer.concat(reply), signal);
      const expected = `${judge.text} accepts the reply`;
      judgement = verdict('judge', 'judge-failed', { ok, expected, measured: says });
    },
  };
}
