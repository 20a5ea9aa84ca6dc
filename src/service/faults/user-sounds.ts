import { createSpeechGate, turnHangOverMs } from '../../audio/speech-gate.ts';
import type { Clock, ClockTimer } from '../../kernel/clock.ts';

/** What the user says, for the faults that act on it. */
export interface UserSounds {
  /** Takes 16 kHz s16le mono. */
  hear(pcm: Buffer): void;
  /** The AI speaks: what was said so far has its reply. */
  answered(): void;
  /** How many sounds have begun. */
  readonly count: number;
  /**
   * Whether the last sound is over, and was a short one after a turn that has no reply: shorter than any turn, or under
   * a second and after the pause that ends a turn.
   */
  readonly isNoiseAfterTurn: boolean;
  close(): void;
}

export interface UserSoundsOptions {
  clock: Clock;
  /** A shorter sound is not a turn. */
  shortestTurnMs: number;
  /** The user begins to speak: a turn, or a sound that is not one. */
  onStart(): void;
  /** What began this long ago is a turn. `lastMs`: how long the previous turn was; undefined if this is the first. */
  onTurn(agoMs: number, lastMs: number | undefined): void;
  /** The user has been silent for as long as it takes to end a turn. */
  onPause(): void;
  /** A short sound ended this long ago. */
  onShortSound(agoMs: number): void;
}

/** A pause this long separates two sounds of a turn. */
const soundPauseMs = 200;
/** A shorter sound may not be a turn. */
const shortMs = 1_000;

/**
 * Times are milliseconds of audio. One gate decides what is a sound and what is a turn, as for the AI. As for the AI, a device
 * that sends nothing for the length of a pause has stopped speaking.
 */
export function createUserSounds(options: UserSoundsOptions): UserSounds {
  const { clock, shortestTurnMs, onStart, onTurn, onPause, onShortSound } = options;
  const gate = createSpeechGate({ hangOverMs: soundPauseMs });
  let count = 0;
  let sound = { startMs: 0, endMs: 0 };
  /** Sounds without a pause between them: a turn once they are long enough. */
  let speech: { startMs: number; isTurn: boolean } | undefined;
  let lastTurnMs: number | undefined;
  /** The end of the last turn, if it has no reply. */
  let turnEndMs: number | undefined;
  let isNoiseAfterTurn = false;
  let heardAt = Number.NEGATIVE_INFINITY;
  let timer: ClockTimer | undefined;

  const pause = () => {
    if (speech?.isTurn === true) lastTurnMs = sound.endMs - speech.startMs;
    speech = undefined;
    onPause();
  };
  const lookForTurn = (endMs: number) => {
    if (speech === undefined || speech.isTurn || endMs - speech.startMs < shortestTurnMs) return;
    speech.isTurn = true;
    onTurn(gate.positionMs - speech.startMs, lastTurnMs);
  };
  const startSound = (startMs: number) => {
    if (speech !== undefined && startMs - sound.endMs >= turnHangOverMs) pause();
    count += 1;
    sound = { startMs, endMs: startMs };
    isNoiseAfterTurn = false;
    if (speech !== undefined) return;
    speech = { startMs, isTurn: false };
    onStart();
  };
  const endSound = (endMs: number) => {
    sound.endMs = endMs;
    lookForTurn(endMs);
    const lengthMs = endMs - sound.startMs;
    const isApart = turnEndMs !== undefined && sound.startMs - turnEndMs >= turnHangOverMs;
    isNoiseAfterTurn =
      turnEndMs !== undefined && (lengthMs < shortestTurnMs || (isApart && lengthMs < shortMs));
    if (speech?.isTurn === true && !isNoiseAfterTurn) turnEndMs = endMs;
    if (lengthMs < shortMs) onShortSound(gate.positionMs - endMs + clock.now() - heardAt);
  };
  const watchForSilence = () => {
    timer = clock.after(heardAt + turnHangOverMs - clock.now(), lookForSilence, { background: true });
  };
  const lookForSilence = () => {
    timer = undefined;
    if (speech === undefined) return;
    if (clock.now() - heardAt < turnHangOverMs) return watchForSilence();
    for (const { atMs } of gate.end()) endSound(atMs);
    pause();
  };

  return {
    hear(pcm) {
      heardAt = clock.now();
      for (const { type, atMs } of gate.push(pcm)) {
        if (type === 'speech-start') startSound(atMs);
        else endSound(atMs);
      }
      if (gate.speaking) lookForTurn(gate.lastVoicedMs);
      else if (speech !== undefined && gate.positionMs - sound.endMs >= turnHangOverMs) pause();
      if (speech !== undefined && timer === undefined) watchForSilence();
    },
    answered() {
      turnEndMs = undefined;
    },
    get count() {
      return count;
    },
    get isNoiseAfterTurn() {
      return isNoiseAfterTurn;
    },
    close() {
      timer?.cancel();
    },
  };
}
