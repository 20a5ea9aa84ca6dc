import { msForBytes } from '../protocol/audio-format.ts';
import { createSentSpeech, type SpeechMoment } from './sent-speech.ts';

/** Two AI messages of one reply, one right after the other. Times are monotonic milliseconds. */
export interface MessagePair {
  from: number;
  at: number;
  /** Audio in the first of them. */
  audioMs: number;
  /** Silence that a listener hears between them, who plays audio as it comes. */
  silenceMs: number;
}

/** A shorter pause within a reply is no gap to a listener. */
const shortestGapMs = 100;

/** Whether a listener hears a gap between two messages of one reply. */
export function isGap({ silenceMs }: MessagePair): boolean {
  return silenceMs >= shortestGapMs;
}

export interface TurnTakingOptions {
  /** AI audio that pauses for this long is another reply. */
  settleMs: number;
  /** Told of each pair once it is certain that both messages are of one reply. */
  onPair: (pair: MessagePair) => void;
}

/**
 * Who speaks when: the end of sent speech, the first AI audio after it, and which AI messages are of one reply. A new
 * reply begins after a long pause, after the end of sent speech (the AI hears the user, falls silent and answers
 * anew), and after an interruption. Times are monotonic milliseconds.
 */
export interface TurnTaking {
  /** Takes audio that was sent; returns the speech found in it. */
  sent(pcm: Buffer, now: number): SpeechMoment[];
  /** Nothing but silence will follow: speech that is open has ended. */
  finishSpeech(): SpeechMoment[];
  /** Takes the size of an AI message. */
  received(bytes: number, now: number): void;
  /** The service says that audio which was not heard yet is void. */
  interrupted(): void;
  readonly speaking: boolean;
  readonly speechEndedAt: number | undefined;
  /** When the first AI audio came after the last end of speech, or any audio where nobody spoke. */
  readonly firstAudioAt: number | undefined;
  /** When received audio runs out if it is played immediately. */
  readonly playedUntil: number;
}

export function createTurnTaking({ settleMs, onPair }: TurnTakingOptions): TurnTaking {
  /** AI audio that came while speech is open: whether the speech ended before it is not known yet. */
  const speech = createSentSpeech<{ at: number; pair: MessagePair | undefined }>();
  let speechEndedAt: number | undefined;
  let firstAudioAt: number | undefined;
  let previous: { at: number; audioMs: number } | undefined;
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
  const pairWith = (now: number): MessagePair | undefined =>
    previous !== undefined && now - previous.at < settleMs
      ? { from: previous.at, at: now, audioMs: previous.audioMs, silenceMs: Math.max(0, now - playedUntil) }
      : undefined;

  return {
    sent: (pcm, now) => follow(speech.push(pcm, now)),
    finishSpeech: () => follow(speech.end()),
    received(bytes, now) {
      // An empty message is no audio.
      if (bytes === 0) return;
      const pair = pairWith(now);
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
