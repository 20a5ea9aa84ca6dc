import type { Pace } from '../audio/pacer.ts';
import type { AudioSource } from '../audio/source.ts';
import { createNameConcealer } from '../kernel/redact.ts';
import type { JoinOptions } from '../wire/client/join-service.ts';
import type { ConversationPlan } from './conversation/conversation-plan.ts';
import type { Expectations } from './expectations.ts';
import type { AudioSink } from './output.ts';

export interface SessionOptions
  extends Pick<JoinOptions, 'client' | 'clock' | 'tap' | 'baseUrl' | 'wsUrl' | 'device' | 'ca' | 'auth'> {
  version: string;
  source: AudioSource;
  /** Name of the source, for people: a path, or "microphone". */
  sourceName: string;
  sinks: readonly AudioSink[];
  pace: Pace;
  frameMs: number;
  /** Silence after the last frame; undefined: until the reply has ended. */
  tailMs: number | undefined;
  /** How long to wait for a reply to begin. */
  waitMs: number;
  /** A pause this long ends a reply. */
  settleMs: number;
  loop: boolean;
  /** Ends the source when aborted, as at its normal end: the session still hears the reply. */
  enough?: AbortSignal;
  /** Stop after this much time of streaming. */
  durationMs: number | undefined;
  /** Maximum bytes that wait in the socket before the source pauses. */
  maxBufferedBytes: number;
  expectations: Expectations;
  /** Turns to say, with their expectations, instead of the source. */
  conversation?: ConversationPlan | undefined;
  /** Whether playback is flushed when speech begins in the sent audio. */
  bargeIn?: boolean;
  /** Messages from the devices while the session runs; they become its warnings. */
  notices?: NoticeSource | undefined;
}

/** The device as people see it: somebody may have given it the name of the API key. */
export function shownDevice({ device, auth }: Pick<SessionOptions, 'device' | 'auth'>): string {
  return 'apiKey' in auth ? createNameConcealer([auth.apiKey])(device) : device;
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
