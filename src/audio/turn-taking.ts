import { msForBytes } from '../protocol/audio-format.ts';
import { createSentSpeech, type SpeechMoment } from './sent-speech.ts';

/** Two AI messages of one reply, one right after the other. Times are monotonic milliseconds. */
export interface MessagePair {
  from: number;
  at: number;
  /** Audio in the first of them. */
  audioMs: number;
  /** Silence between them if the audio is played immediately. */
  silenceMs: number;
}

/** A listener does not notice a shorter pause within a reply. */
const shortestGapMs = 100;

/** Whether a listener hears a gap between two messages of one reply. */
export function isGap({ silenceMs }: MessagePair): boolean {
  return silenceMs >= shortestGapMs;
}

export interface TurnTakingOptions {
  /** A pause this long begins another reply. */
  settleMs: number;
  /** Called for each pair when it is certain that both messages belong to one reply. */
  onPair: (pair: MessagePair) => void;
}

/**
 * Who speaks when: the end of sent speech, the first AI audio after it, and which AI messages belong to one reply. A new
 * reply begins after a long pause, after the end of sent speech (the AI hears the user, falls silent and answers
 * again), and after an interruption. Times are monotonic milliseconds.
 */
export interface TurnTaking {
  /** Takes sent audio; returns the speech in it. */
  sent(pcm: Buffer, now: number): SpeechMoment[];
  /** Only silence follows: open speech has ended. */
  finishSpeech(): SpeechMoment[];
  /** Takes the size of an AI message. */
  received(bytes: number, now: number): void;
  /** The service cancels audio that was not heard yet. */
  interrupted(): void;
  readonly speaking: boolean;
  readonly speechEndedAt: number | undefined;
  /** When the first AI audio arrived after the last end of speech, or the first of all if nobody spoke. */
  readonly firstAudioAt: number | undefined;
  /** When received audio runs out if it is played immediately. */
  readonly playedUntil: number;
}

interface Message {
  at: number;
  audioMs: number;
}

function pairOf(previous: Message, at: number, playedUntil: number): MessagePair {
  const { at: from, audioMs } = previous;
  return { from, at, audioMs, silenceMs: Math.max(0, at - playedUntil) };
}

export function createTurnTaking({ settleMs, onPair }: TurnTakingOptions): TurnTaking {
  /** AI audio that arrived during open speech. It is not known yet whether the speech ended before it. */
  const speech = createSentSpeech<{ at: number; pair: MessagePair | undefined }>();
  let speechEndedAt: number | undefined;
  let firstAudioAt: number | undefined;
  let previous: Message | undefined;
  let playedUntil = 0;

  const tell = (pair: MessagePair | undefined) => {
    if (pair === undefined) return;
    const endedBetween = speechEndedAt !== undefined && pair.from < speechEndedAt && pair.at >= speechEndedAt;
    if (!endedBetween) onPair(pair);
  };
  const follow = (moments: SpeechMoment[]) => {
    for (const { type, leftAt } of moments) {
      if (type === 'speech-start') continue;
      const held = speech.release();
      speechEndedAt = leftAt;
      firstAudioAt = held.find(({ at }) => at >= leftAt)?.at;
      for (const { pair } of held) tell(pair);
    }
    return moments;
  };
  return {
    sent: (pcm, now) => follow(speech.push(pcm, now)),
    finishSpeech: () => follow(speech.end()),
    received(bytes, now) {
      // An empty message has no audio.
      if (bytes === 0) return;
      const pair = previous && now - previous.at < settleMs ? pairOf(previous, now, playedUntil) : undefined;
      const audioMs = msForBytes(bytes);
      previous = { at: now, audioMs };
      playedUntil = Math.max(playedUntil, now) + audioMs;
      if (speech.speaking) {
        for (const expired of speech.hold({ at: now, pair })) tell(expired.pair);
      } else {
        firstAudioAt ??= now;
        tell(pair);
      }
    },
    interrupted() {
      previous = undefined;
      playedUntil = 0;
    },
    get speaking() {
      return speech.speaking;
    },
    get speechEndedAt() {
      return speechEndedAt;
    },
    get firstAudioAt() {
      return firstAudioAt;
    },
    get playedUntil() {
      return playedUntil;
    },
  };
}
