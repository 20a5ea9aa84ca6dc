import type { DialogueRules } from './rules.ts';
import type { SoundSpan } from './sound-spans.ts';

/** A clip of a script, and whether it is a turn: a cough is not. */
export interface ScriptedClip extends SoundSpan {
  /** Its number in the script, from 1. */
  turn: number;
  isTurn: boolean;
  /** For a sound that is not a turn: if the AI stops this soon after its start, the sound stopped it. Default: the rules. */
  holdMs?: number | undefined;
}

/** How the AI stopped: cut off, by itself, or not until the audio ended. */
export type SpeechEnd = 'cut' | 'ended' | 'open';

/** Uninterrupted speech of the AI. */
export interface AiSpeech extends SoundSpan {
  end: SpeechEnd;
}

/** A turn of the user, and how the AI reacted. Times are milliseconds on the time axis. */
export interface UserTurn extends SoundSpan {
  /** Its number in the script; missing if there is none. */
  turn?: number;
  /** From its end to the first AI audio of the reply; null if there was none, or if it was early. */
  responseMs: number | null;
  /** How long before the end of the turn the reply began; null if it did not. */
  earlyMs: number | null;
  /** If the AI was speaking: whether it stopped, ended by itself, or went on. Null if it was not speaking. */
  interruption: 'yielded' | 'ended' | 'never-yields' | null;
  /** From the start of the turn until the AI was silent; null if it did not yield. */
  yieldMs: number | null;
  /** How long the AI spoke during this turn. */
  talkOverMs: number;
  /** `open`: the end of the session, or the next turn, left too little time for a reply. */
  reply: 'answered' | 'lost' | 'unanswered' | 'open';
}

/** A sound of the user that is not a turn, and how the AI reacted. */
export interface UserNoise extends SoundSpan {
  turn?: number;
  /** When the AI stopped because of it; null if it did not. */
  stoppedAtMs: number | null;
  /** How long after that the AI went on; null if it did not. */
  resumedAfterMs: number | null;
  /** When the AI began to reply to it; null if it did not. */
  answeredAtMs: number | null;
}

/** Statistics of a distribution, in milliseconds. */
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
  /** These three are null if no script says that a sound is not a turn. */
  falseInterruptions: number | null;
  answersNoise: number | null;
  repliesLost: number | null;
  unanswered: number;
  /** The total time in which both speak. */
  overlapMs: number;
  /** The part of it in which the AI should have been silent. */
  talkOverMs: number;
  /** The time in which nobody speaks, from the first to the last speech. */
  silenceMs: number;
  /** The share of that time in which each side speaks, 0 to 1; null if there is no speech. */
  talkShare: { user: number; ai: number } | null;
}

/** Who spoke when, and how well they took turns. */
export interface Dialogue {
  /** Why it was not judged; null if it was. */
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
