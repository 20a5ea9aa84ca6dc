import type { Pace } from '../audio/pacer.ts';
import type { ReadRateLimit } from '../protocol/rate-limit.ts';
import type { Side } from '../wire/exchange.ts';
import type { Figures, PlaybackFigures } from './metrics.ts';
import type { SessionSummary } from './summary.ts';

export type SessionState = 'token' | 'connecting' | 'authorising' | 'live' | 'draining' | 'closed';

export type AudioDirection = 'out' | 'in';

/** What happens in a session. Reports, screens, recordings and expectations are functions of this stream. */
export type SessionEventBody =
  | {
      type: 'session';
      version: string;
      device: string;
      baseUrl: string;
      wsUrl: string;
      source: string;
      format: string;
      durationMs?: number;
      /** Speed relative to real time; left out if it is 1. */
      pace?: Pace;
    }
  | { type: 'state'; state: SessionState }
  | { type: 'retry'; attempt: number; delayMs: number; code: string; message: string }
  | {
      type: 'token';
      claims: Record<string, unknown> | undefined;
      rateLimit?: ReadRateLimit;
      status?: number;
      ms?: number;
      attempts?: number;
    }
  | { type: 'message'; category: string; kind: string | undefined; body: unknown }
  | ({ type: 'audio' } & AudioFacts)
  /** `bargeIn`: the speech began while the AI was audible. */
  | { type: 'speech'; state: 'start' | 'end'; audioMs: number; bargeIn?: true }
  /** A clip begins or ends at `atMs` of the sent audio. `holdMs`: it is not a turn, and nothing may change for this long. */
  | { type: 'turn'; turn: number; state: 'start' | 'end'; atMs: number; holdMs?: number | undefined }
  /**
   * AI audio paused within a reply: a listener heard this much silence, until `atMs` on the time axis of `t`. While the user
   * speaks, the gap is reported later. Recordings of earlier versions have no `atMs`: it was `t`.
   */
  | { type: 'gap'; ms: number; atMs?: number | undefined }
  /** The measurements so far, about once a second while audio flows. */
  | ({ type: 'figures' } & Figures & PlaybackFigures)
  /**
   * `side`: a proxy judged that this side broke the rule in `code`. `agoMs`: how long ago it was heard, if it is about a
   * place in the AI's audio; below 0 it is still to be played.
   */
  | { type: 'warning'; code: string; message: string; hint?: string; side?: Side; agoMs?: number }
  /** `from`: the side that closed first, or vanished. */
  | { type: 'close'; code: number; reason: string; name: string; from?: Side }
  | ({ type: 'summary' } & SessionSummary);

/** One message of audio, or several that are folded into one event. */
export interface AudioFacts {
  direction: AudioDirection;
  frames: number;
  bytes: number;
  audioMs: number;
  /** Of the loudest frame, in dBFS. */
  rmsDbfs: number;
  peakDbfs: number;
  /** Set if a sample was at either end of the scale. */
  clipped?: true;
}

/** `t`: milliseconds since the session began, on a monotonic clock. */
export type SessionEvent = { t: number } & SessionEventBody;
