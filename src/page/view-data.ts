import type { Gap } from '../recording/timeline.ts';
import type { RecordedTurn } from '../recording/turns.ts';

/** How an event is shown: by its severity. */
export type Tone = 'ink' | 'muted' | 'good' | 'bad' | 'note';

/** How an event of each level is coloured. */
export const tones = { info: 'ink', warning: 'note', error: 'bad' } as const;

/** What is on the time axis of a session, finished or live. Times are milliseconds from its start. */
export interface Axis {
  durationMs: number;
  turns: readonly (RecordedTurn & { isOpen?: boolean })[];
  gaps: readonly Gap[];
  phases: readonly { t: number; state: string }[];
  marks: readonly Mark[];
  /** What was spoken, according to the service: the newest version of each part. `t`: when the service sent it. */
  spoken: readonly SpokenLine[];
  /** When AI audio arrived; empty if unknown. */
  arrivals: readonly number[];
}

export interface PictureSpan {
  startMs: number;
  endMs: number;
}

export interface SpokenLine {
  t: number;
  who: 'you' | 'AI' | null;
  text: string;
}

export interface Mark {
  t: number;
  tone: Tone;
  name: string;
  text: string;
}

/** A finished session, as its page shows it. Text from outside is escaped for a terminal, but not as markup. */
export interface RecordingView extends Axis {
  title: { what: string; where: string | undefined };
  /** Undefined for a WAV, which has no outcome. */
  outcome: 'ok' | 'failed' | 'cut' | undefined;
  facts: string;
  failure: string | undefined;
  problems: string[];
  metrics: { name: string; value: string; note: string | undefined }[];
  events: { t: number; tone: Tone; text: string }[];
  verdicts: { name: string; outcome: 'pass' | 'FAIL' | 'skip'; expected: string; measured: string }[];
  made: string;
  sampleRate: number;
}

/** Both voices, each as base64 of gzipped s16le mono. */
export interface PackedVoices {
  out: string;
  in: string;
}
