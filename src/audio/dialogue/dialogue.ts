import type { DialogueRules } from './rules.ts';
import type { SoundSpan } from './sound-spans.ts';

/** A clip that a script says, and whether it is a turn: a cough is none. */
export interface ScriptedClip extends SoundSpan {
  /** Its number in the script, from 1. */
  turn: number;
  isTurn: boolean;
  /** Of a sound that is no turn: how soon after its start an AI that stops was stopped by it. Default: of the rules. */
  holdMs?: number | undefined;
}

/** How the AI stopped: cut off, by itself, or not before the audio ended. */
export type SpeechEnd = 'cut' | 'ended' | 'open';

/** Uninterrupted speech of the AI. */
export interface AiSpeech extends SoundSpan {
  end: SpeechEnd;
}

/** A turn of the user, and what the AI did about it. Times are milliseconds of the time axis. */
export interface UserTurn extends SoundSpan {
  /** Its number in the script; absent without one. */
  turn?: number;
  /** From its end to the first AI audio of the reply; null without a reply, or if it was early. */
  responseMs: number | null;
  /** How much the reply led the end of the turn; null if it did not. */
  earlyMs: number | null;
  /** What an AI that was speaking did: it stopped, ended by itself, or went on. Null if it was not speaking. */
  interruption: 'yielded' | 'ended' | 'never-yields' | null;
  /** From the start of the turn until the AI was silent; null unless it yielded. */
  yieldMs: number | null;
  /** How long the AI spoke in this turn. */
  talkOverMs: number;
  /** `open`: the session, or the next turn, left too little time for a reply. */
  reply: 'answered' | 'lost' | 'unanswered' | 'open';
}

/** A sound of the user that is no turn, and what the AI did about it. */
export interface UserNoise extends SoundSpan {
  turn?: number;
  /** When the AI stopped because of it; null if it did not. */
  stoppedAtMs: number | null;
  /** Until the AI went on after that; null if it did not. */
  resumedAfterMs: number | null;
  /** When AI audio began that answers it; null if none did. */
  answeredAtMs: number | null;
}

/** A few numbers of a distribution, in milliseconds. */
export interface DialogueSpread {
  count: number;
  p50: number;
  p95: number;
  max: number;
}

export interface DialogueFigures {
  responseMs: DialogueSpread | null;
  yieldMs: DialogueSpread | null;
  earlyReplies: number;
  neverYields: number;
  /** Interrupted replies that ended by themselves. */
  endedByItself: number;
  /** These three are null where no script says that a sound is no turn. */
  falseInterruptions: number | null;
  answersNoise: number | null;
  repliesLost: number | null;
  unanswered: number;
  /** All time in which both speak. */
  overlapMs: number;
  /** Its part in which the AI had to be silent. */
  talkOverMs: number;
  /** Time in which nobody speaks, from the first to the last speech. */
  silenceMs: number;
  /** Shares of that time in which each side speaks, 0 to 1; null without speech. */
  talkShare: { user: number; ai: number } | null;
}

/** Who spoke when, and how the two got on. */
export interface Dialogue {
  /** Why nothing is judged; null if it is. */
  unjudged: string | null;
  turns: UserTurn[];
  noises: UserNoise[];
  ai: AiSpeech[];
  overlaps: SoundSpan[];
  figures: DialogueFigures;
  /** What is worth a look, as sentences. */
  remarks: { atMs: number; text: string }[];
  rules: DialogueRules & { waitMs: number };
}
