import type { Level } from '../../audio/level.ts';
import { createSpeechGate } from '../../audio/speech-gate.ts';
import { msForBytes } from '../../protocol/audio-format.ts';
import { type AudioExpectations, judgeAudio, type Verdict } from '../expectations.ts';
import { audibleDbfs, createMetrics, type Metrics, roundMs } from '../metrics.ts';

/** How far the reply to a turn has got. */
export type ReplyState = 'awaited' | 'none' | 'begun' | 'ended';

/**
 * What one turn sent and heard: where its speech began and ended, and the reply, which is the AI audio that came after
 * the end of its last speech. All times are monotonic milliseconds.
 */
export interface TurnAudio {
  sent(frame: Buffer, now: number): void;
  received(pcm: Buffer, level: Level, now: number): void;
  /** The clip has been sent; where nothing is said, at once. */
  clipEnded(now: number): void;
  /** When its speech began to leave; when the turn began, until that is known. */
  readonly speechBeganAt: number;
  /** When its speech ended, or the clip where there was none in it; undefined until that is known. */
  readonly speechEndedAt: number | undefined;
  readonly clipEndedAt: number | undefined;
  /** When the reply came to one of the goals; undefined before. */
  reachedAt(goalMs: number): number | undefined;
  /** When AI audio that can be heard came last in this turn, be it of the reply before. */
  readonly lastAudibleAt: number | undefined;
  /** When AI audio that can be heard came first after an end of speech, be it between two sentences of the turn. */
  readonly firstAudibleAt: number | undefined;
  replyState(now: number): ReplyState;
  /** Until when one who plays the reply as it comes hears it. */
  readonly spokenUntil: number;
  readonly replyBegunAt: number | undefined;
  judge(expectations: AudioExpectations): Verdict[];
}

export interface TurnAudioOptions {
  beganAt: number;
  settleMs: number;
  waitMs: number;
  /** Lengths of the reply, in milliseconds, of which it is to be known when they were reached; 0: any audio. */
  goalsMs: readonly number[];
}

/** The gate tells the end of speech this much after the fact, at most. */
const gateMemoryMs = 3_000;

interface Arrival {
  pcm: Buffer;
  level: Level;
  at: number;
}

export function createTurnAudio({ beganAt, settleMs, waitMs, goalsMs }: TurnAudioOptions): TurnAudio {
  const gate = createSpeechGate();
  const departures: { positionMs: number; at: number }[] = [];
  /** AI audio that came while the gate was open: whether it is of the reply is known when it closes. */
  let held: Arrival[] = [];
  let began: number | undefined;
  let ended: number | undefined;
  let clipEndedAt: number | undefined;
  let lastAudibleAt: number | undefined;
  let reply: Metrics;
  let replyBegunAt: number | undefined;
  let firstAudibleAt: number | undefined;
  let replyBytes: number;
  let audibleBytes: number;
  const reached = new Map<number, number>();
  const forget = () => {
    reply = createMetrics({ settleMs });
    replyBegunAt = undefined;
    replyBytes = 0;
    audibleBytes = 0;
    reached.clear();
  };
  forget();

  const departedAt = (moment: number) =>
    departures.find(({ positionMs }) => positionMs >= moment)?.at ?? beganAt;
  const hear = ({ pcm, level, at }: Arrival) => {
    if (pcm.length === 0) return;
    reply.received(pcm, level, at);
    replyBegunAt ??= at;
    replyBytes += pcm.length;
    if (level.rmsDbfs > audibleDbfs) {
      audibleBytes += pcm.length;
      firstAudibleAt ??= at;
    }
    for (const goal of goalsMs) {
      if (!reached.has(goal) && msForBytes(replyBytes) >= goal) reached.set(goal, at);
    }
  };
  const speechEndedAt = () =>
    gate.speaking || clipEndedAt === undefined ? undefined : (ended ?? clipEndedAt);

  return {
    sent(frame, now) {
      const events = gate.push(frame);
      departures.push({ positionMs: gate.positionMs, at: now });
      while ((departures[0]?.positionMs ?? 0) < gate.positionMs - gateMemoryMs) departures.shift();
      for (const event of events) {
        if (event.type === 'speech-start') {
          began ??= departures.find(({ positionMs }) => positionMs > event.atMs)?.at;
          forget();
          held = [];
        } else {
          const endedAt = departedAt(event.atMs);
          ended = endedAt;
          for (const arrival of held) if (arrival.at >= endedAt) hear(arrival);
          held = [];
        }
      }
    },
    received(pcm, level, at) {
      if (level.rmsDbfs > audibleDbfs) lastAudibleAt = at;
      if (gate.speaking) {
        held.push({ pcm, level, at });
        while ((held[0]?.at ?? at) < at - gateMemoryMs) held.shift();
      } else if (ended !== undefined || clipEndedAt !== undefined) hear({ pcm, level, at });
    },
    clipEnded(now) {
      clipEndedAt = now;
    },
    get speechBeganAt() {
      return began ?? beganAt;
    },
    get speechEndedAt() {
      return speechEndedAt();
    },
    get clipEndedAt() {
      return clipEndedAt;
    },
    reachedAt: (goalMs) => reached.get(goalMs),
    get lastAudibleAt() {
      return lastAudibleAt;
    },
    get firstAudibleAt() {
      return firstAudibleAt;
    },
    get replyBegunAt() {
      return speechEndedAt() === undefined ? undefined : replyBegunAt;
    },
    get spokenUntil() {
      return Math.max(lastAudibleAt ?? 0, (replyBegunAt ?? 0) + msForBytes(audibleBytes));
    },
    replyState(now) {
      const endedAt = speechEndedAt();
      if (endedAt === undefined) return 'awaited';
      if (replyBegunAt === undefined) {
        return now - Math.max(endedAt, clipEndedAt ?? 0) >= waitMs ? 'none' : 'awaited';
      }
      return now >= Math.max(replyBegunAt, reply.lastAudibleAt ?? 0) + settleMs ? 'ended' : 'begun';
    },
    judge(expectations) {
      const endedAt = speechEndedAt();
      const firstAudioMs =
        replyBegunAt === undefined || endedAt === undefined ? null : roundMs(replyBegunAt - endedAt);
      return judgeAudio(expectations, { ...reply.snapshot(), firstAudioMs });
    },
  };
}
