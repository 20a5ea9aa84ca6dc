import type { Dialogue } from '../../audio/dialogue/dialogue.ts';
import { dialogueRules } from '../../audio/dialogue/rules.ts';
import type { LostTime } from '../../audio/verdict/pace-check.ts';
import { createServiceVoice } from '../../audio/verdict/service-voice.ts';
import { queueCostBytes } from '../../kernel/queue-cost.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import { timesText } from '../../protocol/count-text.ts';
import { isInterruption, isOfKind, type ServiceMessage } from '../../protocol/messages.ts';
import { judgeHold, measureTurns } from '../dialogue-verdicts.ts';
import { type ExpectationVerdict, judgeClean, verdict } from '../expectations.ts';
import { createAwaited, eventText } from './awaited.ts';
import type { Absence, TurnPlan } from './conversation-plan.ts';
import { findMismatch } from './field-match.ts';
import { type AiMessage, createTurnAudio, type TurnAudio, type TurnAudioOptions } from './turn-audio.ts';

/** A current or past turn: observes and judges what follows it. */
export interface Turn {
  readonly audio: TurnAudio;
  sent(frame: Buffer, now: number): void;
  received(message: AiMessage, now: number): void;
  message(message: ServiceMessage, now: number): void;
  /** The next turn begins. From now on only messages that this turn still expects belong to it. */
  passOn(now: number): void;
  /** Whether everything that must follow has arrived, or can no longer arrive in time. */
  isDecided(now: number): boolean;
  /** `dialogue`: who spoke when in the whole session; `turn`: the number of this one. */
  verdicts(now: number, dialogue: Dialogue | undefined): ExpectationVerdict[];
  /** Lets the judge of the turn hear the reply; then `verdicts` includes its verdict. */
  letJudge(signal: AbortSignal): Promise<void>;
}

export interface TurnOptions extends Omit<TurnAudioOptions, 'goalsMs' | 'onReply' | 'onNoReply'> {
  heardUntil(): number;
  /** Time in which the service was not read. Default: it always was. */
  own?: LostTime | undefined;
  /** When the session began. */
  startedAt: number;
  /** Its number, from 1; 0 before the first. */
  number: number;
}

/** A first message from its first whole sample on. */
function wholeSamples({ pcm, isWithinSample }: AiMessage): Buffer {
  return isWithinSample ? pcm.subarray(1) : pcm;
}

/** Ten minutes. */
const maxJudgedBytes = bytesForMs(600_000);

export function createTurn(plan: TurnPlan, options: TurnOptions): Turn {
  const goalsMs = plan.expect.flatMap((one) => (one.type === 'audio' ? [one.audioMs] : []));
  /** What the judge hears, up to `maxJudgedBytes`. */
  const reply: Buffer[] = [];
  let replyBytes = 0;
  const keep = (message: AiMessage) => {
    if (replyBytes >= maxJudgedBytes) return;
    reply.push(reply.length === 0 ? wholeSamples(message) : message.pcm);
    replyBytes += queueCostBytes(message.pcm.length);
  };
  const audio = createTurnAudio({
    ...{ ...options, goalsMs },
    ...(plan.judge === undefined ? {} : { onReply: keep }),
    onNoReply() {
      reply.length = 0;
      replyBytes = 0;
    },
  });
  const awaited = createAwaited(plan.expect, { audio, ...options });
  const absences = createAbsences(plan.absent);
  let passedOnAt: number | undefined;
  let judgement: ExpectationVerdict | undefined;
  const voice = plan.clean === undefined ? undefined : createServiceVoice(() => {}, options.own);
  let isVoiceBegun = false;

  const look = (now: number) => {
    if (passedOnAt === undefined) awaited.look(now);
  };
  const judgeVoice = (now: number) => {
    if (voice === undefined) return [];
    if (passedOnAt === undefined) voice.end(now);
    return judgeClean(plan.clean, voice.summary());
  };
  return {
    audio,
    sent(frame, now) {
      audio.sent(frame, now);
      voice?.sent(frame, now);
      look(now);
    },
    received(message, now) {
      look(now);
      if (passedOnAt !== undefined) return;
      audio.received(message, now);
      voice?.received(isVoiceBegun ? message.pcm : wholeSamples(message), now);
      isVoiceBegun = true;
    },
    message(message, now) {
      if (isInterruption(message)) voice?.interrupted(now);
      awaited.message(message, now);
      if (passedOnAt === undefined) absences.message(message);
    },
    passOn(now) {
      look(now);
      passedOnAt = now;
      voice?.end(now);
    },
    isDecided: (now) =>
      awaited.isDecided(now, passedOnAt !== undefined) && now >= holdUntil(plan, audio.clipEndedAt),
    verdicts: (now, dialogue) => [
      ...audio.judge(
        plan,
        dialogue &&
          measureTurns(turnsOf(dialogue, options.number), dialogue, (fromMs, untilMs) =>
            options.pausedMs(options.startedAt + fromMs, options.startedAt + untilMs),
          ),
      ),
      ...plan.expect.flatMap((one) =>
        one.type === 'hold' && dialogue !== undefined
          ? [judgeHold(one.holdMs, options.number, dialogue)]
          : [],
      ),
      ...judgeVoice(now),
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

function turnsOf({ turns }: Dialogue, number: number): Dialogue['turns'] {
  return turns.filter(({ turn }) => turn === number);
}

/** For how long the conversation goes on as if nobody had spoken; undefined: it is a turn. */
export function holdOf({ expect }: TurnPlan): number | undefined {
  const holds = expect.flatMap((one) => (one.type === 'hold' ? [one.holdMs] : []));
  return holds.length === 0 ? undefined : Math.max(...holds);
}

/** Until when an AI may reply to a sound that is not a turn, and be heard. */
function holdUntil(plan: TurnPlan, clipEndedAt = Number.POSITIVE_INFINITY): number {
  const holdMs = holdOf(plan);
  const { answersNoiseMs, aiSilentMs } = dialogueRules;
  return holdMs === undefined ? 0 : clipEndedAt + Math.max(holdMs, answersNoiseMs) + aiSilentMs;
}

/** What must not follow a turn. */
interface Absences {
  message(message: ServiceMessage): void;
  /** `heardAudio`: audible AI audio arrived. `isHeardOut`: the service had time to send something. */
  verdicts(heard: { heardAudio: boolean; isHeardOut: boolean }): ExpectationVerdict[];
}

function createAbsences(absent: readonly Absence[]): Absences {
  /** How often each of them arrived. */
  const intrusions = new Map<Absence, number>();
  return {
    message(message) {
      for (const absence of absent) {
        if (absence.type !== 'event' || !isOfKind(message, absence.event.kind)) continue;
        if (findMismatch(absence.event.where, message.body) === undefined)
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

function judgeAbsence(absence: Absence, times: number, isHeardOut: boolean): ExpectationVerdict {
  const isAudio = absence.type === 'audio';
  const name = isAudio ? 'absent audio' : 'absent event';
  const expected = isAudio ? 'no audible AI audio' : `no ${eventText(absence.event)}`;
  if (times > 0) {
    const measured = isAudio ? 'AI audio' : timesText(times);
    const kind = isAudio ? 'unexpected-audio' : 'forbidden-event';
    return verdict(name, kind, { ok: false, expected, measured });
  }
  // Absence counts only if the service had time to send something.
  const measured = isHeardOut ? 'none' : 'none, but the session ended before a reply could come';
  return verdict(name, 'turn-skipped', { ok: isHeardOut, expected, measured });
}
