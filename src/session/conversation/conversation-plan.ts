import type { AudioSource } from '../../audio/source.ts';
import type { AudioLimits } from '../../kernel/audio-limits.ts';
import type { Cleanness } from '../expectations.ts';
import type { FieldMatches } from './field-match.ts';

/** When a turn is spoken. `afterMs` counts from the end of the previous turn. */
export type TurnCue = 'connected' | 'after-reply' | { duringReplyMs: number } | { afterMs: number };

/** A service message, by its kind and its expected fields. */
export interface EventMatch {
  kind: string;
  where: FieldMatches;
}

/**
 * What must follow a turn: an amount of AI audio, a service message, or silence of the AI. Or nothing may change for
 * `holdMs`, because the sound is not a turn but a cough. `withinMs` counts from the end of the turn's speech; for silence
 * from its beginning. Default: the waiting time for a reply.
 */
export type Following = { withinMs: number | undefined } & (
  | { type: 'audio'; audioMs: number }
  | { type: 'event'; event: EventMatch }
  | { type: 'silence'; silenceMs: number }
  | { type: 'hold'; holdMs: number }
);

/** What must not arrive before the next turn: audible AI audio, or a service message. */
export type Absence = { type: 'audio' } | { type: 'event'; event: EventMatch };

/** Something external that hears a reply and accepts it or not, such as a transcription command of the user. */
export interface Judge {
  /** Shown to people. */
  text: string;
  /** Takes the audible reply as PCM. Never rejects; `says` is the reason. Ends early if the signal aborts. */
  run(reply: Buffer, signal: AbortSignal): Promise<{ ok: boolean; says: string }>;
}

/** One turn of the user, and its expectations. Those about audio apply to its reply. */
export interface TurnPlan extends AudioLimits {
  /** Shown to people. Default: the number of the turn. */
  name: string | undefined;
  /** Undefined: the user only listens. */
  say: AudioSource | undefined;
  when: TurnCue;
  expect: readonly Following[];
  absent: readonly Absence[];
  judge?: Judge | undefined;
  /** Whether findings in the reply fail the turn, or remarks too. */
  clean?: Cleanness | undefined;
}

export interface ConversationPlan {
  turns: readonly TurnPlan[];
}
