import type { Pace } from '../audio/pacer.ts';
import type { AudioSource } from '../audio/source.ts';
import type { Clock } from '../kernel/clock.ts';
import type { ServiceAuth, ServiceClient } from '../wire/client/join.ts';
import type { Tap } from '../wire/tap.ts';
import type { ConversationPlan } from './conversation/conversation-plan.ts';
import type { Expectations } from './expectations.ts';
import type { AudioSink } from './output.ts';

export interface SessionOptions {
  /** Default: over the network. */
  client?: ServiceClient;
  clock: Clock;
  /** Looks on at all that passes: a recorder. */
  tap?: Tap | undefined;
  version: string;
  baseUrl: string;
  wsUrl: string;
  device: string;
  /** PEM of what to trust in place of the built-in authorities. */
  ca?: string | undefined;
  auth: ServiceAuth;
  source: AudioSource;
  /** What the source is, for people: a path, or "microphone". */
  sourceName: string;
  sinks: readonly AudioSink[];
  pace: Pace;
  frameMs: number;
  /** Silence after the last frame; undefined: until the reply has ended. */
  tailMs: number | undefined;
  /** How long to wait for a reply that has not begun. */
  waitMs: number;
  /** A pause this long ends a reply. */
  settleMs: number;
  loop: boolean;
  /** When it is aborted the source ends, as if there were no more of it: the reply is still heard. */
  enough?: AbortSignal;
  /** Stop after this much time of streaming. */
  durationMs: number | undefined;
  /** What may wait in the socket before the source is paused. */
  maxBufferedBytes: number;
  expectations: Expectations;
  /** What is said and must follow, turn by turn: in place of the source. */
  conversation?: ConversationPlan | undefined;
  /** Whether playback is flushed when speech begins in the sent audio. */
  bargeIn?: boolean;
  /** What the devices have to say while the session runs: told as its warnings. */
  notices?: NoticeSource | undefined;
}

/** Something that the user should know, and what to do about it. */
export interface SessionNotice {
  code: string;
  message: string;
  hint?: string;
}

export interface NoticeSource {
  listen(listener: (notice: SessionNotice) => void): void;
}
