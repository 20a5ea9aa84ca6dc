import type { Dialogue } from '../audio/dialogue/dialogue.ts';
import type { VoiceSummary } from '../audio/verdict/service-voice.ts';
import type { Failure } from '../kernel/failure-kind.ts';
import type { ReadRateLimit } from '../protocol/rate-limit.ts';
import type { ExpectationVerdict } from './expectations.ts';
import type { MetricsSnapshot } from './metrics.ts';

/** The result of a session. Times are in milliseconds, and null if the session did not get that far. */
export interface SessionSummary extends MetricsSnapshot {
  device: string;
  /** Whether the session ran to its end and met every expectation. */
  ok: boolean;
  elapsedMs: number;
  tokenMs: number | null;
  connectMs: number | null;
  /** From sending the token to `service_voice_connected`. */
  authoriseMs: number | null;
  /** Playback underruns; null if nothing was played. */
  underruns: number | null;
  /** What was found in the AI's audio. Missing in recordings that a proxy or page made. */
  voice?: VoiceSummary;
  /** Who spoke when. Missing in recordings that a proxy or page made. */
  dialogue?: Dialogue;
  /** Number of service messages by kind; `(none)`: those without a kind. */
  events: Record<string, number>;
  rateLimit: ReadRateLimit | null;
  close: { code: number; reason: string; name: string } | null;
  /** The transcript that the service sent, if it did: the last version of each part, at most 200. */
  transcript?: { t: number; who: 'you' | 'AI' | null; text: string }[];
  verdicts: ExpectationVerdict[];
  /** The failure; null if `ok`. */
  failure: Failure | null;
}
