import type { AudioSource } from '../../audio/source.ts';
import type { AudioLimits } from '../../kernel/audio-limits.ts';
import type { FieldMatches } from './field-match.ts';

/** When a turn is said. `afterMs` counts from the end of what was said before. */
export type TurnCue = 'connected' | 'after-reply' | { duringReplyMs: number } | { afterMs: number };

/** A service message, by its kind and what its fields must be. */
export interface EventMatch {
  kind: string;
  where: FieldMatches;
}

/**
 * What must follow a turn: so much AI audio, a service message, or the AI falling silent for so long. `withinMs` counts
 * from the end of the turn's speech; for silence from its beginning. Undefined: as long as a reply is waited for.
 */
export type Following = { withinMs: number | undefined } & (
  | { type: 'audio'; audioMs: number }
  | { type: 'event'; event: EventMatch }
  | { type: 'silence'; silenceMs: number }
);

/** What must not come until the next turn: audible AI audio, or a service message. */
export type Absence = { type: 'audio' } | { type: 'event'; event: EventMatch };

/** One thing that the user says, and what becomes of it. The audio expectations are about the reply to it. */
export interface TurnPlan extends AudioLimits {
  /** For people; the number of the turn where there is none. */
  name: string | undefined;
  /** Undefined: nothing is said, and the service is only heard. */
  say: AudioSource | undefined;
  when: TurnCue;
  expect: readonly Following[];
  absent: readonly Absence[];
}

/** A whole conversation, turn by turn. */
export interface ConversationPlan {
  turns: readonly TurnPlan[];
}
