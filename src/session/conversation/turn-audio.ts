import type { Level } from '../../audio/level.ts';
import { audibleDbfs } from '../../audio/level.ts';
import { createSentSpeech } from '../../audio/sent-speech.ts';
import { isBackgroundHeard, isReplyHeard, type ReplyHeard, replyOverAt } from '../../audio/turn-taking.ts';
import type { AudioLimits, MeasuredTurns } from '../../kernel/audio-limits.ts';
import { msForBytes } from '../../protocol/audio-format.ts';
import { roundMs } from '../../protocol/time-text.ts';
import { type ExpectationVerdict, judgeExpectedAudio } from '../expectations.ts';
import { createMetrics, type Metrics } from '../metrics.ts';

/** Audio of the AI as it arrives. */
export interface AiMessage {
  pcm: Buffer;
  level: Level;
  /** Whether it begins within a sample, because an odd number of bytes came before. */
  isWithinSample: boolean;
}

/** The progress of the reply to a turn. */
export type TurnReplyState = 'awaited' | 'none' | 'begun' | 'ended';

/**
 * The audio of one turn: when its speech began and ended, and the reply, which is the AI audio that arrived after
 * the end of its last speech. All times are monotonic milliseconds.
 */
export interface TurnAudio {
  sent(frame: Buffer, now: number): void;
  received(message: AiMessage, now: number): void;
  /** The clip has been sent. A turn without a clip calls this at once. */
  clipEnded(now: number): void;
  /** When the first speech was sent; until that is known, when the turn began. */
  readonly speechBeganAt: number;
  /** When its speech ended, or the clip if it has no speech; undefined until that is known. */
  readonly speechEndedAt: number | undefined;
  readonly clipEndedAt: number | undefined;
  /** When the reply reached one of the goals; undefined until it does. */
  reachedAt(goalMs: number): number | undefined;
  /** When the first audible AI audio arrived after speech, even between two sentences of the turn. */
  readonly firstAudibleAt: number | undefined;
  replyState(now: number): TurnReplyState;
  /** Whether only background is left of the AI's audio, although it is audible. */
  readonly isBackgroundHeard: boolean;
  /** When the reply began to be heard: its first audio, unless a long silence follows. */
  readonly spokenFrom: number | undefined;
  /** `dialogue`: what this turn led to. */
  judge(limits: AudioLimits, dialogue: MeasuredTurns | undefined): ExpectationVerdict[];
}

export interface TurnAudioOptions {
  /** When the turn begins, in monotonic milliseconds. */
  beganAt: number;
  settleMs: number;
  /** How long to wait if an expectation does not specify it. */
  waitMs: number;
  /** When reading from the service, or this process, was last paused: now, if it is. */
  pausedUntil(): number;
  /** When the AI's speech last arrived. */
  voicedAt(): number;
  /** How long this process did not run between two times, at the longest. */
  pausedMs(from: number, until: number): number;
  /** Lengths of the reply, in milliseconds, of which the times are kept; 0: any audio. */
  goalsMs: readonly number[];
  /** Called with each message of the reply, in order. */
  onReply?(message: AiMessage): void;
  /** What was taken for the reply is not: the user speaks on. */
  onNoReply?(): void;
}

/** A pause up to this length is part of the AI's speech. */
export const speakingGraceMs = 200;

/** Maximum audio that is held; beyond it a judge does not hear all of a reply. */
const mostHeldBytes = 32 * 1024 * 1024;

interface Arrival {
  at: number;
  bytes: number;
  level: Level;
  /** Set if somebody wants it. */
  message: AiMessage | undefined;
}

export function createTurnAudio(options: TurnAudioOptions): TurnAudio {
  const { beganAt, settleMs, waitMs, pausedUntil, voicedAt, pausedMs } = options;
  const { goalsMs, onReply, onNoReply } = options;
  /** Holds AI audio that arrives during speech: whether it belongs to the reply is known when the speech ends. */
  const speech = createSentSpeech<Arrival>();
  let began: number | undefined;
  let ended: number | undefined;
  let clipEndedAt: number | undefined;
  let reply: Metrics;
  let replyBegunAt: number | undefined;
  let spokenFrom: number | undefined;
  let firstAudibleAt: number | undefined;
  let replyBytes: number;
  /** Of audio that is held. */
  let heldBytes = 0;
  const reached = new Map<number, number>();
  const forget = () => {
    reply = createMetrics({ settleMs, pausedMs });
    replyBegunAt = undefined;
    spokenFrom = undefined;
    replyBytes = 0;
    reached.clear();
    onNoReply?.();
  };
  forget();

  const hear = ({ at, bytes, level, message }: Arrival) => {
    if (bytes === 0) return;
    if (message !== undefined) onReply?.(message);
    reply.received(bytes, level, at);
    replyBegunAt ??= at;
    replyBytes += bytes;
    if (level.rmsDbfs > audibleDbfs) {
      firstAudibleAt ??= at;
      spokenFrom ??= at - replyBegunAt <= speakingGraceMs ? replyBegunAt : at;
    }
    for (const goal of goalsMs) {
      if (!reached.has(goal) && msForBytes(replyBytes) >= goal) reached.set(goal, at);
    }
  };
  const speechEndedAt = () =>
    speech.speaking || clipEndedAt === undefined ? undefined : (ended ?? clipEndedAt);
  const heardSince = (endedAt: number): ReplyHeard => ({
    awaitedFrom: Math.max(endedAt, clipEndedAt ?? 0),
    begunAt: replyBegunAt,
    heardAt: reply.lastAudibleAt,
    voicedAt: voicedAt(),
    pausedUntil: pausedUntil(),
  });

  return {
    sent(frame, now) {
      for (const { type, leftAt } of speech.push(frame, now)) {
        if (type === 'speech-start') {
          began ??= leftAt;
          forget();
        } else {
          ended = leftAt;
          for (const arrival of speech.release()) if (arrival.at >= leftAt) hear(arrival);
          heldBytes = 0;
        }
      }
    },
    received(message, at) {
      const { pcm, level } = message;
      const isWanted = onReply !== undefined && heldBytes < mostHeldBytes;
      const arrival = { at, bytes: pcm.length, level, message: isWanted ? message : undefined };
      if (speech.speaking) {
        heldBytes += isWanted ? pcm.length : 0;
        speech.hold(arrival);
      } else if (ended !== undefined || clipEndedAt !== undefined) hear(arrival);
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
    get firstAudibleAt() {
      return firstAudibleAt;
    },
    get spokenFrom() {
      return speechEndedAt() === undefined ? undefined : spokenFrom;
    },
    replyState(now) {
      const endedAt = speechEndedAt();
      if (endedAt === undefined) return 'awaited';
      const heard = heardSince(endedAt);
      const isOver = now >= replyOverAt(heard, { waitMs, settleMs });
      if (isReplyHeard(heard)) return isOver ? 'ended' : 'begun';
      return isOver ? 'none' : 'awaited';
    },
    get isBackgroundHeard() {
      const endedAt = speechEndedAt();
      return endedAt !== undefined && isBackgroundHeard(heardSince(endedAt), { waitMs });
    },
    judge(expectations, dialogue) {
      const endedAt = speechEndedAt();
      const begunAt = endedAt === undefined ? undefined : replyBegunAt;
      return judgeExpectedAudio(expectations, {
        ...reply.snapshot(),
        firstAudioMs: begunAt === undefined || endedAt === undefined ? null : roundMs(begunAt - endedAt),
        dialogue,
        pausedMs: {
          ...reply.pausedMs(),
          firstAudioMs: begunAt === undefined || endedAt === undefined ? 0 : pausedMs(endedAt, begunAt),
        },
      });
    },
  };
}
