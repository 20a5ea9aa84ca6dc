import type { Clock } from '../kernel/clock.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { createSentSpeech, type SpeechMoment } from './sent-speech.ts';
import { createSpeechGate } from './speech-gate.ts';

/** Two consecutive AI messages of one reply. Times are monotonic milliseconds. */
export interface MessagePair {
  /** When the second arrived. */
  at: number;
  /** From the arrival of the first to the arrival of the second. */
  betweenMs: number;
  /** How much that differs from the length of the first. */
  jitterMs: number;
  /** Silence between them if the audio is played immediately. */
  silenceMs: number;
}

/** A listener does not notice a shorter pause within a reply. */
const shortestGapMs = 100;

/** Whether a listener hears a gap between two messages of one reply. */
export function isGap({ silenceMs }: Pick<MessagePair, 'silenceMs'>): boolean {
  return silenceMs >= shortestGapMs;
}

/**
 * A service may send audible background forever. A reply is over after so long without speech above the background; under load,
 * where nothing listens that closely, after so long in all.
 */
export const longestReplyMs = 30_000;

/** What has been heard of a reply. */
export interface ReplyHeard {
  /** When waiting for a reply begins. */
  awaitedFrom: number;
  /** When its first audio arrived, which may be silent; undefined until then. */
  begunAt: number | undefined;
  /** When audible AI audio last arrived, of this reply or of an earlier one; undefined or −∞ if none did. */
  heardAt: number | undefined;
  /** When the AI's speech above its background last arrived; undefined if nobody tells them apart. */
  voicedAt?: number;
  /** When reading from the service, or this process, was last paused: audio may have waited until then. */
  pausedUntil?: number;
}

/** Whether something audible has arrived. A service may send silence until its reply starts. */
export function isReplyHeard({ begunAt, heardAt }: Pick<ReplyHeard, 'begunAt' | 'heardAt'>): boolean {
  return begunAt !== undefined && heardAt !== undefined && heardAt >= begunAt;
}

/** Until when a reply has been heard. It may begin, and begin softly, until the wait for it is over. */
function heardUntil({ awaitedFrom, heardAt = awaitedFrom, voicedAt = heardAt }: ReplyHeard, waitMs: number) {
  return Math.min(heardAt, Math.max(awaitedFrom + waitMs, voicedAt) + longestReplyMs);
}

/** Whether audible audio goes on although the reply is over: only background. */
export function isBackgroundHeard(reply: ReplyHeard, { waitMs }: { waitMs: number }): boolean {
  const { heardAt = Number.NEGATIVE_INFINITY } = reply;
  return isReplyHeard(reply) && heardAt > heardUntil(reply, waitMs);
}

/**
 * When a reply is over: nothing audible has come for `settleMs`, or nothing audible at all within `waitMs`. The only rule for
 * the end of a reply. Times are monotonic milliseconds.
 */
export function replyOverAt(
  reply: ReplyHeard,
  { waitMs, settleMs }: { waitMs: number; settleMs: number },
): number {
  const { awaitedFrom, pausedUntil = Number.NEGATIVE_INFINITY } = reply;
  return isReplyHeard(reply)
    ? Math.max(heardUntil(reply, waitMs), pausedUntil) + settleMs
    : Math.max(awaitedFrom, pausedUntil) + waitMs;
}

/**
 * Which AI messages belong to one reply, and the time between each and the previous one. A class with numbers, because each
 * message of a load passes through it: see ARCHITECTURE.md. Times are monotonic milliseconds.
 */
export class ReplyArrivals {
  /** When the last message arrived; −∞ before the first. */
  lastAt = Number.NEGATIVE_INFINITY;
  /** When received audio runs out if it is played immediately. */
  playedUntil = 0;
  /** Between the last two messages, as in `MessagePair`. */
  betweenMs = 0;
  jitterMs = 0;
  silenceMs = 0;
  /** The length of all audio that is played up to `playedUntil`. */
  playedMs = 0;
  /** When audible audio runs out if it is played immediately; −∞ before the first. */
  audibleUntil = Number.NEGATIVE_INFINITY;
  readonly #settleMs: number;
  #lastMs = 0;
  #isOver = true;

  /** `settleMs`: after a pause this long another reply begins. */
  constructor(settleMs: number) {
    this.#settleMs = settleMs;
  }

  /** Takes a message with audio. Returns whether it continues the reply of the previous one. */
  arrived(bytes: number, at: number): boolean {
    const audioMs = msForBytes(bytes);
    this.betweenMs = at - this.lastAt;
    this.jitterMs = Math.abs(this.betweenMs - this.#lastMs);
    this.silenceMs = Math.max(0, at - this.playedUntil);
    const goesOn = !this.#isOver && this.betweenMs < this.#settleMs;
    this.playedUntil = Math.max(this.playedUntil, at) + audioMs;
    this.playedMs += audioMs;
    this.lastAt = at;
    this.#lastMs = audioMs;
    this.#isOver = false;
    return goesOn;
  }

  /** The message that has just arrived is audible. */
  wasAudible(): void {
    this.audibleUntil = this.playedUntil;
  }

  /** The reply is over, whenever the next message arrives. Audio that has not been heard yet is not played. */
  interrupted(at: number): void {
    this.#isOver = true;
    this.playedMs = this.playedBefore(at);
    this.playedUntil = Math.min(this.playedUntil, at);
    this.audibleUntil = Math.min(this.audibleUntil, at);
  }

  /** How much audio was played before this time, which must not be earlier than the last message. */
  playedBefore(at: number): number {
    return this.playedMs - Math.max(0, this.playedUntil - at);
  }
}

export interface TurnTakingOptions {
  /** After a pause this long another reply begins. */
  settleMs: number;
  /** Called for each pair, once it is certain that both messages belong to one reply. */
  onPair: (pair: MessagePair) => void;
}

/**
 * Who speaks when: the end of sent speech, the first AI audio after it, and which AI messages belong to one reply. A new reply
 * begins after a long pause, after the end of sent speech (the AI hears the user, falls silent and replies again), and after
 * an interruption. Times are monotonic milliseconds.
 */
export interface TurnTaking {
  /** Takes sent audio; returns the speech in it. */
  sent(pcm: Buffer, now: number): SpeechMoment[];
  /** Only silence follows: open speech has ended. */
  finishSpeech(): SpeechMoment[];
  /** Takes the size of an AI message. */
  received(bytes: number, now: number, isAudible?: boolean): void;
  /** The service cancels audio that has not been heard yet. */
  interrupted(now: number): void;
  readonly speaking: boolean;
  readonly speechEndedAt: number | undefined;
  /** When the first AI audio after the last end of speech arrived, or the first at all if nobody spoke. */
  readonly firstAudioAt: number | undefined;
  /** When audible audio runs out if it is played immediately; −∞ before the first. */
  readonly audibleUntil: number;
}

export function createTurnTaking({ settleMs, onPair }: TurnTakingOptions): TurnTaking {
  /** Holds AI audio that arrived during open speech: whether the speech ended before it is not known yet. */
  const speech = createSentSpeech<{ at: number; pair: MessagePair | undefined }>();
  let speechEndedAt: number | undefined;
  let firstAudioAt: number | undefined;
  const arrivals = new ReplyArrivals(settleMs);

  const emitPair = (pair: MessagePair | undefined) => {
    if (pair === undefined) return;
    const from = pair.at - pair.betweenMs;
    const endedBetween = speechEndedAt !== undefined && from < speechEndedAt && pair.at >= speechEndedAt;
    if (!endedBetween) onPair(pair);
  };
  const follow = (moments: SpeechMoment[]) => {
    for (const { type, leftAt } of moments) {
      if (type === 'speech-start') continue;
      const held = speech.release();
      speechEndedAt = leftAt;
      firstAudioAt = held.find(({ at }) => at >= leftAt)?.at;
      for (const { pair } of held) emitPair(pair);
    }
    return moments;
  };
  return {
    sent: (pcm, now) => follow(speech.push(pcm, now)),
    finishSpeech: () => follow(speech.end()),
    received(bytes, now, isAudible = false) {
      // An empty message has no audio.
      if (bytes === 0) return;
      const goesOn = arrivals.arrived(bytes, now);
      if (isAudible) arrivals.wasAudible();
      const { betweenMs, jitterMs, silenceMs } = arrivals;
      const pair = goesOn ? { at: now, betweenMs, jitterMs, silenceMs } : undefined;
      if (speech.speaking) {
        for (const expired of speech.hold({ at: now, pair })) emitPair(expired.pair);
      } else {
        firstAudioAt ??= now;
        emitPair(pair);
      }
    },
    interrupted: (now) => arrivals.interrupted(now),
    get speaking() {
      return speech.speaking;
    },
    get speechEndedAt() {
      return speechEndedAt;
    },
    get firstAudioAt() {
      return firstAudioAt;
    },
    get audibleUntil() {
      return arrivals.audibleUntil;
    },
  };
}

/** Tells the AI's voice from the background of its audio, message by message. */
interface VoiceWatch {
  /** Takes a message that arrives now. Returns whether it holds speech. */
  received(pcm: Buffer): boolean;
  /** When the last message with speech arrived; −∞ before the first. */
  readonly voicedAt: number;
}

export function createVoiceWatch(clock: Pick<Clock, 'now'>): VoiceWatch {
  const gate = createSpeechGate();
  let voicedAt = Number.NEGATIVE_INFINITY;
  return {
    received(pcm) {
      const { speaking, lastVoicedMs } = gate;
      const isSpeech = gate.push(pcm).length > 0 || speaking || gate.speaking;
      const isVoiced = isSpeech && gate.lastVoicedMs > lastVoicedMs;
      if (isVoiced) voicedAt = clock.now();
      return isVoiced;
    },
    get voicedAt() {
      return voicedAt;
    },
  };
}
