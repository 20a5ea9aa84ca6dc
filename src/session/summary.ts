import type { Dialogue } from '../audio/dialogue/dialogue.ts';
import type { VoiceSummary } from '../audio/verdict/service-voice.ts';
import type { Failure } from '../kernel/failure-kind.ts';
import type { ReadRateLimit } from '../protocol/rate-limit.ts';
import type { ExpectationVerdict } from './expectations.ts';
import type { MetricsSnapshot } from './metrics.ts';

/** The result of a session. Times are milliseconds; null if the session did not get that far. */
export interface SessionSummary extends MetricsSnapshot {
  device: string;
  /** Whether the session ran to its end and every expectation held. */
  ok: boolean;
  elapsedMs: number;
  tokenMs: number | null;
  connectMs: number | null;
  /** From sending the token to `service_voice_connected`. */
  authoriseMs: number | null;
  /** Underruns of playback; null if nothing was played. */
  underruns: number | null;
  /** What was found in the AI's audio. Missing in recordings that no session wrote. */
  voice?: VoiceSummary;
  /** Who spoke when. Missing in recordings that no session wrote. */
  dialogue?: Dialogue;
  /** Service messages by kind; those without one under `(none)`. */
  events: Record<string, number>;
  rateLimit: ReadRateLimit | null;
  close: { code: number; reason: string; name: string } | null;
  /** What the service said was spoken: the last version of each part, at most 200. Only if it sent transcripts. */
  transcript?: { t: number; who: 'you' | 'AI' | null; text: string }[];
  verdicts: ExpectationVerdict[];
  /** The failure; null if `ok`. */
  failure: Failure | null;
}
