import { measureLevel } from '../../audio/level.ts';
import { createSpeechGate } from '../../audio/speech-gate.ts';
import type { Clock } from '../../kernel/clock.ts';

/** What the user says, as far as faults act on it. */
export interface UserSounds {
  /** Takes 16 kHz s16le mono. */
  hear(pcm: Buffer): void;
  /** How many sounds have begun. */
  readonly count: number;
  /** Whether the last sound is over, and was shorter than a turn. */
  readonly isLastShort: boolean;
}

export interface UserSoundsOptions {
  clock: Clock;
  /** A turn begins. `lastMs`: how long the one before was; undefined if it is the first. */
  onTurn(lastMs: number | undefined): void;
  /** Nobody has spoken for as long as ends a turn. */
  onPause(): void;
  /** A short sound ended this long ago. */
  onShortSound(agoMs: number): void;
}

/** Louder audio is a turn of the user, which ends after so much time without it. */
const spokenDbfs = -50;
const turnPauseMs = 700;
/** A pause this long parts two sounds of a turn. */
const soundPauseMs = 200;
/** A shorter sound may be no turn. */
const shortMs = 1_000;

export function createUserSounds({ clock, onTurn, onPause, onShortSound }: UserSoundsOptions): UserSounds {
  const gate = createSpeechGate({ hangOverMs: soundPauseMs });
  let count = 0;
  let isLastShort = false;
  let soundStartMs = 0;
  let turnStartedAt: number | undefined;
  let spokenAt = Number.NEGATIVE_INFINITY;

  const followTurn = (pcm: Buffer) => {
    const now = clock.now();
    const isPause = now - spokenAt >= turnPauseMs;
    if (measureLevel(pcm).rmsDbfs < spokenDbfs) {
      if (isPause) onPause();
      return;
    }
    if (isPause) {
      onTurn(turnStartedAt === undefined ? undefined : spokenAt - turnStartedAt);
      turnStartedAt = now;
    }
    spokenAt = now;
  };
  return {
    hear(pcm) {
      followTurn(pcm);
      for (const event of gate.push(pcm)) {
        if (event.type === 'speech-start') {
          count += 1;
          soundStartMs = event.atMs;
          isLastShort = false;
        } else {
          isLastShort = event.atMs - soundStartMs < shortMs;
          if (isLastShort) onShortSound(gate.positionMs - event.atMs);
        }
      }
    },
    get count() {
      return count;
    },
    get isLastShort() {
      return isLastShort;
    },
  };
}
